// @module-tag slow
import { describe, expect, test } from 'vitest'
import { map } from '../../lib/cli/commands/map.js'
import { shell } from '../support/commands.js'

const TRACE = [
  '{"kind":"header","format":"z"}',
  '{"kind":"alloc","thread":18446744073709551615,"address":"0x1000","size":4}',
  '{"kind":"free","address":"0x1000"}',
  '{"kind":"end","events":2}',
  '',
].join('\n')

describe('hf-map', () => {
  test('what an expression drops is not known of the rest', async () => {
    const check = 'hf-check --max-leaked 0 --max-peak 4'
    const { code, stdout } = await shell(`hf-map -e 'event.kind != "free"' | ${check}`, TRACE)
    expect(code).toBe(3)
    expect(stdout.toString()).toContain('events were removed from the trace')
    expect((await shell(`hf-map -e 'event.size' | ${check}`, TRACE)).code).toBe(0)
    const plain = await shell(`hf-map -e 'event.size'`, TRACE)
    expect(plain.stdout.toString()).toBe(TRACE)
  })

  test('a block is not moved to the null address', async () => {
    const { code, stdout, stderr } = await shell('hf-map --rebase 0x1000=0', TRACE)
    expect(code).toBe(1)
    expect(stdout.toString()).toBe('{"kind":"header","format":"z"}\n')
    expect(stderr).toContain('z: event 1: address 0x1000 would be moved to 0, or beyond 64 bits')
  })

  test('the expression of the help takes events without the field that it changes', async () => {
    const [expression] = Object.keys(map.examples).flatMap((command) => /-e '.*?'/.exec(command) ?? [])
    const { code, stdout } = await shell(`hf-map ${expression}`, TRACE)
    expect([code, stdout.toString()]).toEqual([0, TRACE.replace('"size":4', '"size":16')])
  })

  test('--set takes the negative threads that --thread takes', async () => {
    for (const field of ['thread', 'process']) {
      const { stdout } = await shell(`hf-map --set ${field}=-1 | hf-filter --${field} -1`, TRACE)
      expect(stdout.toString().match(/"kind":"(?:alloc|free)"/g)).toHaveLength(2)
    }
    const { code, stderr } = await shell('hf-map --set size=-1', TRACE)
    expect([code, stderr]).toEqual([2, expect.stringContaining('out of range')])
  })
})
