import { Readable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TraceError } from '../../lib/event/error.js'
import * as replay from '../../lib/entry/replay.js'
import { decompress, gzip, type Inflater } from '../../lib/entry/index.js'
import { defaultInflater } from '../../lib/entry/stages.js'
import { runs } from '../support/runs.js'
import { stopwatch } from '../support/stopwatch.js'

const LINES = Buffer.from(
  Array.from({ length: 20_000 }, (_, i) => `${i % 7}: malloc 0x${(i * 48).toString(16)} ${(i * 7919) % 5000}\n`).join(
    '',
  ),
)

const MEMBERS = [gzipSync(''), gzipSync('1: free 0x10\n')]

interface Result {
  bytes: Buffer
  error?: TraceError
}

async function inflate(compressed: Buffer, inflater: Inflater, size = 10_000): Promise<Result> {
  const chunks = Array.from({ length: Math.ceil(compressed.length / size) }, (_, i) =>
    compressed.subarray(i * size, (i + 1) * size),
  )
  const stream = Readable.from(chunks).pipe(decompress({ inflater }))
  const parts: Buffer[] = []
  try {
    for await (const part of stream) parts.push(Buffer.from(part as Uint8Array))
  } catch (error) {
    return { bytes: Buffer.concat(parts), error: error as TraceError }
  }
  return { bytes: Buffer.concat(parts) }
}

// zlib-sync is optional; where it was not built, both names mean node:zlib.
const INFLATERS: Inflater[] = ['zlib-sync', 'node:zlib']

test('zlib-sync is used where it is installed', () => {
  expect(INFLATERS).toContain(defaultInflater())
})

describe.each(INFLATERS)('%s', (inflater) => {
  test.each([1, 7, 64, 10_000, 1 << 20])('one member, in chunks of %i bytes', { tags: ['slow'] }, async (size) => {
    const { bytes, error } = await inflate(gzipSync(size === 1 ? LINES.subarray(0, 20_000) : LINES), inflater, size)
    expect(error).toBeUndefined()
    expect(bytes.equals(size === 1 ? LINES.subarray(0, 20_000) : LINES)).toBe(true)
  })

  test('concatenated members of all sizes, empty ones too, and padding', { tags: ['slow'] }, async () => {
    const cuts = [0, 1, 1, 100, 4096, 90_000, 90_001, LINES.length]
    const members = cuts.slice(1).map((cut, i) => gzipSync(LINES.subarray(cuts[i], cut)))
    for (const size of [13, 4096, 1 << 20]) {
      const { bytes, error } = await inflate(Buffer.concat([...members, Buffer.alloc(1000)]), inflater, size)
      expect(error).toBeUndefined()
      expect(bytes.equals(LINES)).toBe(true)
    }
  })

  test('a thousand members', async () => {
    const member = gzipSync('1: free 0x10\n')
    const { bytes } = await inflate(Buffer.concat(Array.from({ length: 1000 }, () => member)), inflater)
    expect(bytes.length).toBe(13_000)
  })

  test('bytes between or behind members that are no gzip, whatever comes after them', { tags: ['slow'] }, async () => {
    // The members are equal, so that the trailer of the first stands at the end, too.
    const short = gzipSync('1: free 0x10\n')
    const long = gzipSync(LINES.subarray(0, 4000))
    for (const member of [short, long]) {
      const damaged = Buffer.from(member)
      damaged[0] = 0x1e
      const garbage = Buffer.from('GARBAGE GARBAGE')
      for (const rest of [damaged, Buffer.concat([garbage, member.subarray(-8)]), Buffer.concat([garbage, member])]) {
        for (const size of [1, 7, 50, 4096, 1 << 20]) {
          const { bytes, error } = await inflate(Buffer.concat([member, rest]), inflater, size)
          expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: member.length })
          expect(error?.message).toContain('the bytes after the last gzip member are not gzip')
          expect(bytes.equals(gunzipSync(member))).toBe(true)
        }
      }
    }
  })

  test('members of all sizes, cut into chunks of any size, give the same', { tags: ['slow'] }, async () => {
    const cuts = [0, 1, 1, 100, 4096, 90_000, 90_001, 200_000]
    const members = cuts.slice(1).map((cut, i) => gzipSync(LINES.subarray(cuts[i], cut), { level: i % 10 }))
    const whole = Buffer.concat([...members, Buffer.alloc(3), ...members])
    for (const size of [11, 997, 20_000, whole.length]) {
      const { bytes, error } = await inflate(whole, inflater, size)
      expect(error).toBeUndefined()
      expect(bytes.equals(Buffer.concat([LINES.subarray(0, 200_000), LINES.subarray(0, 200_000)]))).toBe(true)
    }
  })

  test('a damaged small member among others: what came before it, then the error of its place', async () => {
    const member = gzipSync('1: free 0x10\n')
    for (const at of [12, member.length - 6, member.length - 2]) {
      const bad = Buffer.from(member)
      bad[at] = bad[at] ^ 0x10
      const { bytes, error } = await inflate(Buffer.concat([member, member, bad, member]), inflater, 1 << 20)
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'gzip' })
      expect(error?.offset).toBeGreaterThanOrEqual(2 * member.length)
      expect(bytes.toString().startsWith('1: free 0x10\n1: free 0x10\n')).toBe(true)
    }
  })

  test('a hundred thousand members take no longer than some seconds', { tags: ['slow'] }, async () => {
    const members = Buffer.concat(Array.from({ length: 100_000 }, (_, i) => MEMBERS[i % 2]))
    const time = stopwatch()
    const { bytes, error } = await inflate(members, inflater, 65_536)
    expect(error).toBeUndefined()
    expect(bytes.length).toBe(50_000 * 13)
    // A turn of the event loop for each would take ten.
    expect(time()).toBeLessThan(8000)
  })

  test('a header with name, comment, extra field and checksum', async () => {
    const plain = gzipSync('1: free 0x10\n')
    const header = Buffer.from([0x1f, 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3])
    const extras = Buffer.concat([Buffer.from([3, 0, 1, 2, 3]), Buffer.from('name\0comment\0')])
    // The checksum is CRC-16 of the header; zlib-sync checks it, so compute it.
    const { crc32 } = await import('node:zlib')
    const crc = Buffer.alloc(2)
    crc.writeUInt16LE(crc32(Buffer.concat([header, extras])) & 0xffff)
    const { bytes, error } = await inflate(Buffer.concat([header, extras, crc, plain.subarray(10), plain]), inflater)
    expect(error).toBeUndefined()
    expect(bytes.toString()).toBe('1: free 0x10\n1: free 0x10\n')
  })

  test('an empty member whose header holds the bytes of its trailer', async () => {
    const empty = gzipSync('')
    const header = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 3, 10, 0, ...Array.from({ length: 10 }, () => 0)])
    const { bytes, error } = await inflate(Buffer.concat([header, empty.subarray(10), gzipSync('hello')]), inflater)
    expect(error).toBeUndefined()
    expect(bytes.toString()).toBe('hello')
  })

  test('a cut member gives what it has, then an error with the offset', async () => {
    const whole = gzipSync(LINES)
    for (const length of [3, 9, 10, 11, 18, 1000, whole.length - 9, whole.length - 8, whole.length - 1]) {
      const { bytes, error } = await inflate(whole.subarray(0, length), inflater)
      expect(error).toBeInstanceOf(TraceError)
      expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', format: 'gzip', offset: length })
      expect(LINES.subarray(0, bytes.length).equals(bytes)).toBe(true)
      if (length > whole.length - 9) expect(bytes.length).toBe(LINES.length)
    }
  })

  test('a cut second member', async () => {
    const first = gzipSync('1: free 0x10\n')
    const { bytes, error } = await inflate(Buffer.concat([first, first.subarray(0, 15)]), inflater)
    expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', offset: first.length + 15 })
    expect(bytes.toString()).toContain('1: free 0x10\n')
  })

  test('a corrupt member gives no other bytes than it had before the fault', async () => {
    const whole = gzipSync(LINES)
    for (const at of [whole.length >> 1, whole.length - 7, whole.length - 2]) {
      const bad = Buffer.from(whole)
      bad[at] = bad[at] ^ 0x10
      const { error } = await inflate(bad, inflater)
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'gzip' })
    }
  })

  test('bytes after the last member that are no gzip', async () => {
    const whole = gzipSync(LINES)
    const { bytes, error } = await inflate(Buffer.concat([whole, Buffer.from('what is this')]), inflater)
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: whole.length })
    expect(bytes.equals(LINES)).toBe(true)
  })

  test('a bomb is inflated as slowly as it is read', { tags: ['slow'] }, async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000))
    const before = process.memoryUsage().rss
    let length = 0
    let largest = 0
    let longest = 0
    for await (const chunk of Readable.from([bomb]).pipe(decompress({ inflater }))) {
      const part = chunk as Buffer
      length += part.length
      longest = Math.max(longest, part.length)
      largest = Math.max(largest, process.memoryUsage().rss - before)
    }
    expect(length).toBe(200_000_000)
    expect(longest).toBeLessThan(1_200_000)
    expect(largest).toBeLessThan(120_000_000)
  })
})

describe('both inflaters deliver the same and report the same', () => {
  const line = (i: number) => `${i}: malloc 0x${((i * 2654435761) >>> 0).toString(16)} ${(i * 7919) % 5000}\n`
  const long = gzipSync(Array.from({ length: 6000 }, (_, i) => line(i)).join(''))
  const short = gzipSync(line(1))
  const stored = gzipSync(Buffer.concat([short, Buffer.from(line(2)), short]), { level: 0 })
  const compare = async (damaged: Buffer, size: number) => {
    const [one, other] = await Promise.all(INFLATERS.map((inflater) => inflate(damaged, inflater, size)))
    expect(other!.bytes.equals(one!.bytes)).toBe(true)
    const { code, offset, message } = one!.error ?? {}
    expect(other!.error).toEqual(one!.error && expect.objectContaining({ code, offset, message }))
    return one!
  }

  test('for a wrong CRC-32 or length, after all of the content', { tags: ['slow'] }, async () => {
    for (const [fromEnd, reason] of [
      [7, 'the CRC-32 of a gzip member is wrong'],
      [3, 'the length of a gzip member is wrong'],
    ] as const) {
      for (const [before, after] of [
        [0, 0],
        [0, 100],
        [30, 0],
        [30, 30],
      ] as const) {
        const bad = Buffer.from(long)
        bad[bad.length - fromEnd]! ^= 0x10
        const parts = [long.subarray(0, before && long.length), bad, long.subarray(0, after), Buffer.alloc(after)]
        for (const size of [5000, 1 << 20]) {
          const { bytes, error } = await compare(Buffer.concat(parts), size)
          expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: before && long.length })
          expect(error!.message).toContain(reason)
          expect(bytes.length).toBe(gunzipSync(long).length * (before ? 2 : 1))
        }
      }
    }
  })

  test('for random damage', { timeout: 120_000 }, async () => {
    const whole = Buffer.concat([short, stored, long, stored, short, Buffer.alloc(9), long])
    const random = fc.nat({ max: whole.length - 1 })
    const sizes = fc.constantFrom(5000, 30_000, 1 << 20)
    await fc.assert(
      fc.asyncProperty(random, fc.integer({ min: 1, max: 255 }), sizes, fc.boolean(), async (at, by, size, isCut) => {
        const damaged = Buffer.from(isCut ? whole.subarray(0, at) : whole)
        if (!isCut) damaged[at]! ^= by
        await compare(damaged, size)
      }),
      { numRuns: runs(400) },
    )
  })

  test('for damage near the end of a member', { tags: ['slow'] }, async () => {
    for (const from of [short.length, short.length + stored.length + long.length]) {
      const whole = Buffer.concat([short, stored, long, stored, short, short])
      for (let at = from - 24; at < from + 24; at += 7) {
        const flipped = Buffer.from(whole)
        flipped[at]! ^= 1
        const without = Buffer.concat([whole.subarray(0, at), whole.subarray(at + 5)])
        for (const damaged of [flipped, without, whole.subarray(0, at)]) await compare(damaged, 30_000)
      }
    }
  })
})

test('many small streams take no memory that stays', { tags: ['slow'] }, async () => {
  const member = gzipSync('1: free 0x10\n')
  for (let i = 0; i < 200; i++) await inflate(member, 'zlib-sync')
  const before = process.memoryUsage().rss
  for (let i = 0; i < 2000; i++) await inflate(member, 'zlib-sync')
  // An inflater of zlib-sync for each would be 100 kB and more, which the garbage collector does not know of.
  expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000)
})

test('bytes that are not compressed pass unchanged, however few', async () => {
  for (const text of ['', 'a', 'abc', '1: free 0x10\n']) {
    const { bytes, error } = await inflate(Buffer.from(text), 'node:zlib')
    expect(error).toBeUndefined()
    expect(bytes.toString()).toBe(text)
  }
})

test('the error of a cut archive comes behind all events that were in it', async () => {
  const whole = gzipSync(LINES)
  let events = 0
  const read = async () => {
    for await (const batch of Readable.from([whole.subarray(0, whole.length - 1)])
      .pipe(decompress())
      .pipe(replay.decode()))
      events += (batch as { count: number }).count
  }
  await expect(read()).rejects.toMatchObject({ format: 'gzip' })
  expect(events).toBe(20_000)
})

describe('gzip', () => {
  test('deflates', async () => {
    const parts: Buffer[] = []
    for await (const part of Readable.from([LINES]).pipe(gzip({ level: 1 }))) parts.push(part as Buffer)
    expect((await inflate(Buffer.concat(parts), 'node:zlib')).bytes.equals(LINES)).toBe(true)
  })

  test('after a failure holds everything before it, and looks cut', async () => {
    const parts: Buffer[] = []
    const stream = Readable.from([Buffer.concat([LINES, Buffer.from('nonsense\n')])])
      .pipe(replay.decode())
      .pipe(replay.encode())
      .pipe(gzip())
    await expect(
      (async () => {
        for await (const part of stream) parts.push(part as Buffer)
      })(),
    ).rejects.toMatchObject({ format: 'replay' })
    const { bytes, error } = await inflate(Buffer.concat(parts), 'node:zlib')
    expect(bytes.equals(LINES)).toBe(true)
    expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
  })
})
