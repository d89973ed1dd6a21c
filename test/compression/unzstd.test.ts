import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { unzstd } from '../../lib/compression/unzstd.js'
import { ZstdFault } from '../../lib/compression/zstd-blocks.js'
import { MAX_WINDOW } from '../../lib/compression/zstd-frames.js'
import { kernelInflater, nodeInflater, type NewFrameInflater } from '../../lib/compression/zstd-inflaters.js'
import { unzstdWhole } from '../../lib/compression/zstd-whole.js'
import { TraceError } from '../../lib/event/error.js'
import { CHECKED } from '../../lib/kernel/checked.js'
import { decompress } from '../../lib/streams/decompress.js'
import { xorshift } from '../support/hostile-calls.js'
import { LINES, rawFrame, rleFrame, skippable, ZSTD_FILE } from './zstd-bytes.js'
import { isWhole } from '../support/runs.js'
import { stopwatch } from '../support/stopwatch.js'

const FILE = readFileSync(ZSTD_FILE)

interface Result {
  bytes: Buffer
  error: TraceError | undefined
}

async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size)
}

/** What a compressed stream holds, and what is wrong with it. */
async function inflated(bytes: Uint8Array, inflater: NewFrameInflater, size = 10_000): Promise<Result> {
  const parts: Uint8Array[] = []
  let error: TraceError | undefined
  try {
    for await (const part of unzstd(piecesOf(bytes, size), inflater)) parts.push(part.slice())
  } catch (caught) {
    if (!(caught instanceof TraceError)) throw caught
    error = caught
  }
  return { bytes: Buffer.concat(parts), error }
}

const INFLATERS: readonly [string, NewFrameInflater | undefined][] = [
  ['node:zlib', nodeInflater],
  ['a kernel', kernelInflater()],
]

describe.each(INFLATERS)('with %s', (_, found) => {
  const inflater = found as NewFrameInflater
  const it = test.skipIf(found === undefined)

  it.each([1, 7, 64, 10_000, 1 << 20])('a frame of several blocks, in chunks of %i bytes', async (size) => {
    const { bytes, error } = await inflated(FILE, inflater, size)
    expect(error).toBeUndefined()
    expect(bytes.equals(LINES)).toBe(true)
  })

  it('very many small frames with large windows', async () => {
    const frames = Buffer.concat(Array.from({ length: 2000 }, () => rleFrame(1, 20, 2_097_152)))
    const { bytes, error } = await inflated(frames, inflater)
    expect(error).toBeUndefined()
    expect(bytes.equals(Buffer.alloc(40_000, 0x0a))).toBe(true)
  })

  it('several frames, empty ones too, with frames for others before, between and after them', async () => {
    const text = '1: free 0x10\n'
    const parts = [skippable(3), rawFrame(text), rawFrame(''), FILE, skippable(0), rawFrame(text), skippable(100_000)]
    for (const size of [1, 13, 4096, 1 << 20]) {
      const { bytes, error } = await inflated(Buffer.concat(parts), inflater, size)
      expect(error).toBeUndefined()
      expect(bytes.equals(Buffer.concat([Buffer.from(text), LINES, Buffer.from(text)]))).toBe(true)
    }
  })

  it('cut anywhere: what came before, and where it is cut', async () => {
    const [first, second] = [rawFrame('1: free 0x10\n'), rawFrame('2: free 0x20\n')]
    const whole = Buffer.concat([first, skippable(5), second])
    const ends = [0, first.length, first.length + 13, whole.length]
    for (let length = 1; length < whole.length; length++) {
      const { bytes, error } = await inflated(whole.subarray(0, length), inflater)
      if (ends.includes(length)) expect(error).toBeUndefined()
      else expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', format: 'zstd', offset: length })
      expect(bytes.toString()).toBe(length < first.length ? '' : '1: free 0x10\n')
    }
    for (const length of [100, 5000, FILE.length - 5, FILE.length - 1]) {
      const { bytes, error } = await inflated(FILE.subarray(0, length), inflater)
      expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', offset: length })
      expect(bytes.equals(LINES.subarray(0, bytes.length))).toBe(true)
      if (length > FILE.length - 5) expect(bytes.length).toBe(LINES.length)
    }
  })

  it('damaged, it is never taken for whole', async () => {
    for (let i = 0; i < 120; i++) {
      const at = i < 20 ? i : i < 30 ? FILE.length - 1 - (i - 20) : (i * 7919) % FILE.length
      const damaged = Buffer.from(FILE)
      damaged[at] = damaged[at] ^ (1 << (i % 8))
      const { bytes, error } = await inflated(damaged, inflater)
      if (error === undefined) expect(bytes.equals(LINES), `byte ${at}`).toBe(true)
      else expect(error.offset).toBeLessThanOrEqual(FILE.length)
    }
  })

  it('a wrong checksum comes after the content', async () => {
    const damaged = Buffer.from(FILE)
    damaged[FILE.length - 1] = damaged[FILE.length - 1] ^ 1
    const { bytes, error } = await inflated(damaged, inflater)
    expect(bytes.equals(LINES)).toBe(true)
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: FILE.length - 4 })
    expect(error?.message).toContain('the checksum of a zstd frame is wrong')
  })

  it('bytes after the last frame that are not zstd', async () => {
    for (const rest of ['garbage', '\0\0\0\0', '\x1f\x8b\x08\0\0\0\0\0\0\x03']) {
      const frame = rawFrame('1: free 0x10\n')
      const { bytes, error } = await inflated(Buffer.concat([frame, Buffer.from(rest, 'latin1')]), inflater)
      expect(bytes.toString()).toBe('1: free 0x10\n')
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: frame.length })
      expect(error?.message).toContain('the bytes after the last zstd frame are not zstd')
    }
  })

  it('a content of another length than the header says', async () => {
    const frame = rawFrame('1: free 0x10\n')
    for (const [length, said] of [
      // Its window is too small for its block.
      [12, 'corrupt'],
      [14, 'holds less'],
    ] as const) {
      const wrong = Buffer.from(frame)
      wrong[5] = length
      const { error } = await inflated(wrong, inflater)
      expect(error?.code).toBe('ERR_TRACE_MALFORMED')
      if (inflater !== nodeInflater) expect(error?.message).toContain(said)
    }
  })

  it('windows that are too large, dictionaries, reserved bits and types, and large blocks are refused', async () => {
    const block = Buffer.from([1, 0, 0])
    const frame = (...header: number[]) => Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, ...header]), block])
    const refused = async (bytes: Buffer) => (await inflated(bytes, inflater)).error
    // A window of 2^(10 + 15) and one of an eighth more.
    expect(await refused(frame(0x00, 15 << 3))).toBeUndefined()
    expect(await refused(frame(0x00, (15 << 3) | 1))).toMatchObject({ code: 'ERR_TRACE_LIMIT', offset: 0 })
    expect((await refused(frame(0xe0, 0, 0, 0, 0, 1, 0, 0, 0)))?.code).toBe('ERR_TRACE_LIMIT')
    expect((await refused(frame(0x01, 0, 7)))?.message).toContain('dictionary')
    expect((await refused(frame(0x08, 0)))?.message).toContain('reserved bit')
    const blocks = (word: number) =>
      Buffer.concat([frame(0x00, 0).subarray(0, -3), Buffer.from([word, word >> 8, word >> 16])])
    expect((await refused(blocks(7)))?.message).toContain('no known type')
    expect((await refused(blocks((131_073 << 3) | 1)))?.message).toContain('too large')
  })

  it('a bomb takes time and no memory', async () => {
    const bomb = rleFrame(4000)
    expect(bomb.length).toBeLessThan(20_000)
    const before = process.memoryUsage().rss
    let length = 0
    for await (const part of unzstd(piecesOf(bomb, 1 << 20), inflater)) length += part.length
    expect(length).toBe(4000 * 131_072)
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000)
  })

  it('many small frames take no longer than some seconds', { tags: ['slow'] }, async () => {
    const frames = Buffer.concat(Array.from({ length: 20_000 }, () => rawFrame('1: free 0x10\n')))
    const time = stopwatch()
    const { bytes, error } = await inflated(frames, inflater, 65_536)
    expect(error).toBeUndefined()
    expect(bytes.length).toBe(20_000 * 13)
    expect(time()).toBeLessThan(8000)
  })
})

test('compressed Huffman weights without an end', async () => {
  const block = (table: number, sizeFormat = 0) => {
    const header = [2 | (sizeFormat << 2), 0x10, 0x20, 0, 0].slice(0, [3, 3, 4, 5][sizeFormat])
    const content = [...header, 21, table, table >> 8, table >> 16, ...Array<number>(40).fill(0x55)]
    const word = (content.length << 3) | (2 << 1) | 1
    return new Uint8Array([word, word >> 8, word >> 16, ...content])
  }
  // Six ones are the whole probability of 32; 1 in five bits is none, with two bits for symbols like it.
  const tables = { first: 0b111111_0000, third: 0b111111_01_00001_0000, none: 0b011111_01_00001_0000 }
  for (const sizeFormat of [0, 1, 2, 3]) {
    for (const table of Object.values(tables)) {
      const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x28, ...block(table, sizeFormat)])
      for (const [name, inflater] of INFLATERS) {
        if (inflater === undefined) continue
        const { error } = await inflated(Buffer.concat([rawFrame('1: free 0x10\n'), frame]), inflater)
        expect(error, name).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'zstd' })
      }
    }
  }
})

test('many frames with large windows take little work', { tags: ['slow'] }, async () => {
  const frames = Buffer.concat(Array.from({ length: 10_000 }, () => rleFrame(2, 1, MAX_WINDOW)))
  const time = stopwatch()
  const { bytes, error } = await inflated(frames, kernelInflater())
  expect({ length: bytes.length, error }).toEqual({ length: 20_000, error: undefined })
  expect(time()).toBeLessThan(5000)
})

test(
  'a small block with very many long sequences is refused at the first that is too long',
  { tags: ['slow'] },
  async () => {
    // Literals: none. 65,535 + 0x7f00 sequences by tables of one state: the longest match, no literals, an offset of 1.
    const content = [0, 255, 255, 255, 0b01_01_01_00, 0, 0, 52, ...Array<number>(20).fill(0x55), 1]
    const word = (content.length << 3) | (2 << 1) | 1
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x58, word, word >> 8, word >> 16, ...content])
    const time = stopwatch()
    for (let i = 0; i < 200; i++)
      expect((await inflated(frame, kernelInflater())).error).toMatchObject({ code: 'ERR_TRACE_MALFORMED' })
    expect(time()).toBeLessThan(CHECKED ? 20_000 : 2000)
  },
)

describe('the kernel reads what zstd writes', () => {
  const text = (n: number) =>
    Array.from({ length: n }, (_, i) => `${i % 7}: malloc 0x${(i * 48).toString(16)} ${(i * 7919) % 5000}\n`)
  const random = (n: number, letters: number) => {
    const rnd = xorshift(n + letters)
    return Buffer.from(Array.from({ length: n }, () => (letters === 256 ? rnd(256) : 97 + rnd(letters))))
  }
  const inputs: Record<string, Buffer> = {
    nothing: Buffer.alloc(0),
    'a byte': Buffer.from('a'),
    'the same byte': Buffer.alloc(300_000, 0x61),
    'short text': Buffer.from(text(5).join('')),
    text: Buffer.from(text(30_000).join('')),
    'random bytes': random(200_000, 256),
    'few letters': random(300_000, 3),
    'many letters': random(150_000, 60),
    'a far copy': Buffer.concat([random(900_000, 256), Buffer.from(text(2000).join('')), random(900_000, 256)]),
    binary: readFileSync(process.execPath).subarray(0, 3_000_000),
  }
  const hasZstd = spawnSync('zstd', ['--version']).status === 0
  describe.skipIf(!hasZstd)('(needs zstd)', () => {
    test.each([
      '-1',
      '-3',
      '-9',
      '--fast=5',
      '-3 --long=25',
      '-5 --single-thread -B4096',
      ...(isWhole() ? ['-19', '--ultra -20', '-19 --no-check'] : []),
    ])('zstd %s', { tags: ['slow'] }, async (flags) => {
      for (const [name, input] of Object.entries(inputs)) {
        const { stdout } = spawnSync('zstd', ['-c', ...flags.split(' ')], { input, maxBuffer: 1 << 28 })
        const { bytes, error } = await inflated(stdout, kernelInflater(), 65_536)
        expect(error, name).toBeUndefined()
        expect(bytes.equals(input), name).toBe(true)
        expect(Buffer.from(unzstdWhole(stdout, input.length)).equals(input), name).toBe(true)
        if (input.length > 0) expect(() => unzstdWhole(stdout, input.length - 1)).toThrow(ZstdFault)
      }
    })

    test('damaged, it is never read as other content than zstd reads', { tags: ['large'] }, () => {
      const rnd = xorshift(5)
      for (const level of ['-1', '-19']) {
        const input = Buffer.concat([Buffer.from(text(3000).join('')), random(20_000, 30)])
        const { stdout } = spawnSync('zstd', ['-c', '--no-check', level], { input })
        for (let i = 0; i < 150; i++) {
          const damaged = Buffer.from(stdout)
          const at = 8 + rnd(damaged.length - 8)
          damaged[at] = damaged[at] ^ (1 << rnd(8))
          const zstd = spawnSync('zstd', ['-dc', '-q'], { input: damaged, maxBuffer: 1 << 26 })
          let ours: Uint8Array | undefined
          try {
            ours = unzstdWhole(damaged, 1 << 20)
          } catch (error) {
            expect(error).toBeInstanceOf(Error)
          }
          // zstd does not check whether all bits of the literals are used.
          if (ours === undefined) continue
          expect(zstd.status, `${level}, byte ${at}`).toBe(0)
          expect(Buffer.from(ours).equals(zstd.stdout), `${level}, byte ${at}`).toBe(true)
        }
      }
    })
  })
})

test('whole frames: several, skippable ones, cut, with other bytes, and more or less than was said', () => {
  const text = '1: free 0x10\n'
  const frames = Buffer.concat([skippable(3), rawFrame(text), rawFrame(''), FILE, skippable(0), rawFrame(text)])
  const all = Buffer.concat([Buffer.from(text), LINES, Buffer.from(text)])
  expect(Buffer.from(unzstdWhole(frames, all.length)).equals(all)).toBe(true)
  expect(Buffer.from(unzstdWhole(frames, 2 * all.length)).equals(all)).toBe(true)
  expect(() => unzstdWhole(frames, all.length - 1)).toThrow(ZstdFault)
  expect(() => unzstdWhole(frames, -1)).toThrow(ZstdFault)
  for (const cut of [1, 5, rawFrame(text).length - 1, rawFrame(text).length + 3])
    expect(() => unzstdWhole(frames.subarray(0, -cut), all.length), `${cut}`).toThrow(ZstdFault)
  expect(() => unzstdWhole(Buffer.concat([frames, Buffer.from('garbage')]), all.length)).toThrow(ZstdFault)
  const wrong = Buffer.from(FILE)
  wrong[FILE.length - 1] = wrong[FILE.length - 1] ^ 1
  expect(() => unzstdWhole(wrong, LINES.length)).toThrow(ZstdFault)
  // A length that cannot be takes no memory.
  expect(unzstdWhole(rawFrame(text), 2 ** 40).length).toBe(text.length)
  const window = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 16 << 3, 1, 0, 0])
  expect(() => unzstdWhole(window, 10)).toThrow(RangeError)
})

test('a block has no more content than the window', async () => {
  const bytes = (size: number) => {
    const word = (size << 3) | 2 | 1
    return Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0, word, word >> 8, word >> 16, 0x61])
  }
  for (const [name, inflater] of INFLATERS) {
    if (inflater === undefined) continue
    expect((await inflated(bytes(1024), inflater)).bytes.length, name).toBe(1024)
    expect((await inflated(bytes(1025), inflater)).error, name).toMatchObject({ code: 'ERR_TRACE_MALFORMED' })
  }
})

test('blocks without content before others, after them and alone', async () => {
  const magic = [0x28, 0xb5, 0x2f, 0xfd]
  const empty = [0, 0, 0]
  const abc = [3 << 3, 0, 0, 0x61, 0x62, 0x63]
  const last = (block: number[]) => [block[0] | 1, ...block.slice(1)]
  // The checksum of no bytes.
  const none = [0x99, 0xe9, 0xd8, 0x51]
  for (const inflater of [kernelInflater(), ...(nodeInflater === undefined ? [] : [nodeInflater])]) {
    const read = async (...frame: number[]) => {
      const { bytes, error } = await inflated(Buffer.from([...magic, ...frame]), inflater)
      return error?.message ?? bytes.toString()
    }
    expect(await read(0, 0, ...empty, ...abc, ...empty, ...last(abc))).toBe('abcabc')
    expect(await read(0, 0, ...abc, ...last(empty))).toBe('abc')
    expect(await read(0, 0, ...empty, ...last(empty))).toBe('')
    expect(await read(4, 0, ...last(empty), ...none)).toBe('')
    expect(await read(4, 0, ...last(empty), 1, 2, 3, 4)).toContain('the checksum of a zstd frame is wrong')
    expect(await read(0x20, 3, ...last(empty))).toMatch(/holds less than its header says|corrupt/)
  }
})

describe('in streams', () => {
  const read = async (bytes: Buffer): Promise<Buffer> => {
    const parts: Uint8Array[] = []
    for await (const part of Readable.from([bytes]).pipe(decompress())) parts.push(Buffer.from(part as Uint8Array))
    return Buffer.concat(parts)
  }

  test('zstd is recognized by its first bytes, and by those of a frame for others', async () => {
    expect((await read(FILE)).equals(LINES)).toBe(true)
    expect((await read(Buffer.concat([skippable(4), FILE]))).equals(LINES)).toBe(true)
  })
})
