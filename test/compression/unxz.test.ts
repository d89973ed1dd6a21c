import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { unxz } from '../../lib/compression/unxz.js'
import { TraceError } from '../../lib/event/error.js'
import { someOf } from '../support/runs.js'
import { LINES } from './zstd-bytes.js'
import { stopwatch } from '../support/stopwatch.js'

/** What xz makes of `LINES` with several checks, dictionaries, properties and sizes of blocks. */
const file = (name: string) => readFileSync(new URL(`xz/${name}.xz`, import.meta.url))
const NAMES = ['crc64', 'blocks-crc32', 'sha256', 'none']

/** `xz < /dev/null` */
const EMPTY = Buffer.from('/Td6WFoAAATm1rRGAAAAABzfRCEftvN9AQAAAAAEWVo=', 'base64')
/** `echo hi | xz -9`: a dictionary of 64 MiB */
const HI = Buffer.from('/Td6WFoAAATm1rRGAgAhARwAAAAQz1jMAQACaGkKAAD7e+joKlhDTwABGwMLL7kQH7bzfQEAAAAABFla', 'base64')
/** `head -c 50000000 /dev/zero | xz` */
const ZEROS = readFileSync(new URL('xz/zeros.xz', import.meta.url))

interface Result {
  bytes: Buffer
  error: TraceError | undefined
}

async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size)
}

async function inflated(bytes: Uint8Array, size = 10_000): Promise<Result> {
  const parts: Uint8Array[] = []
  let error: TraceError | undefined
  try {
    for await (const part of unxz(piecesOf(bytes, size))) parts.push(part)
  } catch (caught) {
    if (!(caught instanceof TraceError)) throw caught
    error = caught
  }
  return { bytes: Buffer.concat(parts), error }
}

test('nothing that corrupt data give comes before the fault', async () => {
  const bytes = Buffer.from(file('crc64'))
  for (const at of [100, bytes.length >> 1, bytes.length - 100]) {
    const corrupt = Buffer.from(bytes)
    corrupt[at] = corrupt[at] ^ 0x55
    const result = await inflated(corrupt)
    expect(result.error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'xz' })
    expect(result.bytes.equals(LINES.subarray(0, result.bytes.length))).toBe(true)
  }
})

describe.each(NAMES)('%s', (name) => {
  const bytes = file(name)

  test.each([1, 64, 10_000, 1 << 20])('in chunks of %i bytes', async (size) => {
    const result = await inflated(bytes, size)
    expect(result.error).toBeUndefined()
    expect(result.bytes.equals(LINES)).toBe(true)
  })

  test('cut anywhere: what came before, and where it is cut', { tags: ['slow'] }, async () => {
    for (let length = 7; length < bytes.length; length += length < 60 || length > bytes.length - 60 ? 1 : 997) {
      const result = await inflated(bytes.subarray(0, length))
      expect(result.error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', format: 'xz', offset: length })
      expect(result.bytes.equals(LINES.subarray(0, result.bytes.length))).toBe(true)
    }
  })

  test('damaged, it is never taken for whole', async () => {
    for (const i of someOf(200)) {
      const at = i < 60 ? i : i < 120 ? bytes.length - 1 - (i - 60) : (i * 7919) % bytes.length
      const damaged = Buffer.from(bytes)
      damaged[at] = damaged[at] ^ (1 << (i % 8))
      const result = await inflated(damaged)
      // A file without a check cannot tell where its content is wrong.
      if (name !== 'none') expect(result.error, `byte ${at}`).toBeDefined()
      if (result.error !== undefined) expect(result.error.offset).toBeLessThanOrEqual(bytes.length)
    }
  })
})

test('several streams, empty ones too, with zeros between and after them', { tags: ['slow'] }, async () => {
  const parts = [EMPTY, file('crc64'), Buffer.alloc(8), file('blocks-crc32'), EMPTY, Buffer.alloc(4)]
  for (const size of [1, 7, 4096, 1 << 20]) {
    const { bytes, error } = await inflated(Buffer.concat(parts), size)
    expect(error).toBeUndefined()
    expect(bytes.equals(Buffer.concat([LINES, LINES]))).toBe(true)
  }
})

test('streams with different checks and dictionaries, in any order', async () => {
  for (const names of [NAMES, NAMES.toReversed(), [...NAMES, ...NAMES]]) {
    const { bytes, error } = await inflated(Buffer.concat(names.map(file)))
    expect(error).toBeUndefined()
    expect(bytes.equals(Buffer.concat(names.map(() => LINES)))).toBe(true)
  }
})

test('many small streams with large dictionaries take no longer than a second or two', { tags: ['slow'] }, async () => {
  const streams = Buffer.concat(Array.from({ length: 4000 }, () => HI))
  const time = stopwatch()
  const { bytes, error } = await inflated(streams, 65_536)
  expect(error).toBeUndefined()
  expect(bytes.toString()).toBe('hi\n'.repeat(4000))
  expect(time()).toBeLessThan(5000)
})

test.each(['garbage', '\0\0\0', '\0\0\0\0garbage', '\0\xfd7zXZ\0', '\xfd7zYZ\0\0\0\0\0\0\0'])(
  'bytes after the last stream that are not xz: %j',
  async (rest) => {
    const { bytes, error } = await inflated(Buffer.concat([file('crc64'), Buffer.from(rest, 'latin1')]))
    expect(bytes.equals(LINES)).toBe(true)
    expect(error?.code).toBe('ERR_TRACE_MALFORMED')
    expect(error?.message).toContain('the bytes after the last xz stream are not xz')
  },
)

test('a check that is wrong comes after the content', async () => {
  const damaged = Buffer.from(file('crc64'))
  // The check lies before the index, of 8 bytes here with its CRC-32, and the footer.
  const at = damaged.length - 12 - 12 - 1
  damaged[at] = damaged[at] ^ 1
  const { bytes, error } = await inflated(damaged)
  expect(bytes.equals(LINES)).toBe(true)
  expect(error?.message).toMatch(/the check of an xz block is wrong|the index of an xz stream/)
})

test('filters for programs and large dictionaries are refused with what to do', async () => {
  const bcj = await inflated(readFileSync(new URL('xz/x86.xz', import.meta.url)))
  expect(bcj.error?.message).toContain('uses a filter for programs, which is not read: decompress it first (xz -dc)')
  // The block's header begins after that of the stream, of 12 bytes, and ends with its checksum.
  const delta = readFileSync(new URL('xz/x86.xz', import.meta.url))
  delta[14] = 3
  delta.writeUInt32LE(crc32(delta.subarray(12, 20)), 20)
  expect((await inflated(delta)).error?.message).toContain('the xz block uses the delta filter, which is not read')
  const large = await inflated(readFileSync(new URL('xz/dictionary-128m.xz', import.meta.url)))
  expect(large.error).toMatchObject({ code: 'ERR_TRACE_LIMIT', format: 'xz' })
  expect(large.error?.message).toContain('needs a dictionary of 128 MiB; at most 64 are read')
})

test('a dictionary has a limit', async () => {
  for (const [code, isRead] of [
    [27, true],
    [28, true],
    [29, false],
  ] as const) {
    const bytes = Buffer.from(file('crc64'))
    // After the header of the stream: a length, flags, and the filter with its properties.
    expect([...bytes.subarray(12, 16)]).toEqual([2, 0, 0x21, 1])
    bytes[16] = code
    bytes.writeUInt32LE(crc32(bytes.subarray(12, 20)), 20)
    const { bytes: content, error } = await inflated(bytes)
    if (isRead) expect(content.equals(LINES)).toBe(true)
    else expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', format: 'xz', offset: 12 })
  }
})

test('a bomb takes time and no memory', { tags: ['slow'] }, async () => {
  expect(ZEROS.length).toBeLessThan(10_000)
  const before = process.memoryUsage().rss
  let length = 0
  for await (const part of unxz(piecesOf(ZEROS, 1 << 20))) length += part.length
  expect(length).toBe(50_000_000)
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
})
