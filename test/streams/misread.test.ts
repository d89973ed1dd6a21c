import { expect, test } from 'vitest'
import { truncated } from '../../lib/event/error.js'
import { misreading } from '../../lib/streams/misread.js'

test('what bytes look like is decided by what they were, even if their memory is used again', async () => {
  const head = Buffer.from('= Start\n@ ./a:[0x10] + 0x5560 0x18\n@ ./a:[0x20] - 0x5560\n')
  const reasonFor = misreading(head)
  head.fill('{"kind":"alloc"}\n')
  const error = truncated('the program was ended', { format: 'glibc-mtrace', offset: 40 })
  expect(await reasonFor(error, 'glibc-mtrace', "glibc's mtrace")).toBe(error)
})
