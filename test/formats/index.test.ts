import { describe, expect, test } from 'vitest'
import { formatNamed, formatOfPath, sniffFormat } from '../../lib/formats/index.js'
import { isWritable, type WritableFormat } from '../../lib/event/format.js'
import { NO_HEADER } from '../../lib/event/header.js'
import { encodeEvents } from '../support/drive.js'
import { FORMATS, sniffFormat as sniffLoaded } from '../support/formats.js'
import { stopwatch } from '../support/stopwatch.js'

describe.each([...FORMATS])('$name', (format) => {
  test('has an encoder unless it is read-only', () => {
    expect(isWritable(format)).toBe(format.readOnly !== true)
  })

  test('is loaded by its entry, and is told in the same words', async () => {
    const entry = formatNamed(format.name)
    expect(await entry?.load()).toBe(format)
    const { sniff: _sniff, load: _load, ...traits } = entry as NonNullable<typeof entry>
    expect(format).toMatchObject(traits)
  })

  test('is found by its names', () => {
    for (const ending of format.extensions) {
      for (const path of [`a${ending}`, `A${ending.toUpperCase()}.gz`]) {
        expect(formatOfPath(path)?.name).toBe(format.name)
      }
    }
  })

  test('takes no time to say that long runs of a character are something else', () => {
    const time = stopwatch()
    for (const start of ['', '7 ', '7 12:00:00 ', '[pid 7] ', '@ ', '@ a] - ', '== ', 'v ', '7:', 'x 7', '{', '"'])
      for (const run of [' ', '0', 'a', '(', '[', '>', '\t', '] - ', '->', '@', ': '])
        format.sniff(Buffer.from(start + run.repeat(8000)))
    expect(time()).toBeLessThan(2000)
  })

  test.skipIf(!isWritable(format))('is found by its first bytes, in the same way as without loading', async () => {
    const bytes = encodeEvents(
      (format as WritableFormat).encoder(),
      [
        { kind: 'alloc', api: 'malloc', thread: 7n, time: 5n, address: 0x5500_0000n, size: 48n },
        { kind: 'free', api: 'free', thread: 7n, time: 6n, address: 0x5500_0000n },
      ],
      NO_HEADER,
    )
    expect(sniffLoaded(bytes)).toBe(format)
    for (let end = 0; end <= bytes.length; end++) {
      const head = bytes.subarray(0, end)
      expect((await sniffFormat(head))?.name).toBe(sniffLoaded(head)?.name)
    }
  })
})

test('an unknown name, ending or beginning is of no format', async () => {
  expect(formatNamed('elf')).toBeUndefined()
  expect(formatOfPath('a.elf')).toBeUndefined()
  expect(await sniffFormat(new Uint8Array(64))).toBeUndefined()
})
