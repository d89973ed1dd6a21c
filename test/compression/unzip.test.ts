import { deflateRawSync } from 'node:zlib'
import { Zip, ZipDeflate, ZipPassThrough, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { TraceError } from '../../lib/event/error.js'
import { isZip } from '../../lib/compression/magic.js'
import { Unzip } from '../../lib/compression/unzip.js'
import { corpusFile } from '../support/corpus.js'
import { drive, slices } from '../support/drive.js'
import { someOf } from '../support/runs.js'
import { descriptor, end, local, member, zip } from './archive.js'

const bytes = (text: string) => new Uint8Array(Buffer.from(text))

/** Some 100 kB that deflate well and not too well. */
const TEXT = bytes(
  Array.from({ length: 5000 }, (_, i) => `${i % 7}: malloc 0x${(i * 2_654_435_761).toString(16)} ${i}\n`).join(''),
)

function unzip(archive: Uint8Array, size?: number) {
  const stage = new Unzip()
  const { out, error } = drive(stage, slices(archive, size))
  return { content: new Uint8Array(Buffer.concat(out)), out, error, warnings: stage.warnings }
}

/** An archive as programs write it that cannot seek: sizes behind the data. */
function streamed(content: Uint8Array, stored = false): Uint8Array {
  const parts: Uint8Array[] = []
  const zip = new Zip((_, part) => void parts.push(part))
  const file = stored ? new ZipPassThrough('dump.txt') : new ZipDeflate('dump.txt')
  zip.add(file)
  for (let i = 0; i < content.length; i += 1000) file.push(content.subarray(i, i + 1000))
  file.push(new Uint8Array(0), true)
  zip.end()
  return new Uint8Array(Buffer.concat(parts))
}

describe('inflating a zip', () => {
  const archives: [string, Uint8Array][] = [
    ['deflated', zipSync({ 'dump.txt': TEXT })],
    ['stored', zipSync({ 'dump.txt': TEXT }, { level: 0 })],
    ['deflated as a stream', streamed(TEXT)],
    ['stored as a stream', streamed(TEXT, true)],
    ['with a descriptor without signature', zip([member('dump.txt', TEXT, { descriptor: 'bare' })])],
    ['with a descriptor of 64-bit sizes', zip([member('dump.txt', TEXT, { descriptor: 'signed64' })])],
    ['with a bare descriptor of 64-bit sizes', zip([member('dump.txt', TEXT, { descriptor: 'bare64' })])],
    ['with sizes in a zip64 field', zip([member('dump.txt', TEXT, { zip64: true })])],
    ['with stored blocks', zip([member('dump.txt', TEXT, { level: 0 })])],
    [
      'with a directory',
      zip([
        member('dumps/', bytes('')),
        member('dumps/dump.txt', TEXT),
        member('empty/', bytes(''), { descriptor: 'signed' }),
      ]),
    ],
  ]

  it.each(archives)('gives the file: %s', (_, archive) => {
    for (const size of [archive.length, 64, 7, 1]) {
      const { content, error, warnings } = unzip(archive, size)
      expect(error).toBeUndefined()
      expect(Buffer.compare(content, TEXT)).toBe(0)
      expect(warnings).toEqual([])
    }
  })

  it('gives bytes of its own, also of Buffers, whose `slice` makes none', () => {
    const archive = Buffer.from(zipSync({ 'dump.txt': TEXT }, { level: 0 }))
    const stage = new Unzip()
    const out: Uint8Array[] = []
    for (let at = 0; at < archive.length; at += 10_000) {
      const chunk = Buffer.from(archive.subarray(at, at + 10_000))
      stage.feed(chunk)
      for (let part = stage.next(); part !== null; part = stage.next()) {
        out.push(part.slice())
        // Whoever got it may do with it what he likes.
        part.fill(0xa5)
        expect(part.buffer).not.toBe(chunk.buffer)
      }
    }
    stage.end()
    while (stage.next() !== null);
    expect(Buffer.compare(Buffer.concat(out), TEXT)).toBe(0)
  })

  it('gives an empty file', () => {
    for (const archive of [
      zipSync({ a: bytes('') }),
      streamed(bytes('')),
      streamed(bytes(''), true),
      zip([member('a', bytes(''))]),
    ]) {
      expect(unzip(archive)).toMatchObject({ content: bytes(''), warnings: [] })
      expect(unzip(archive).error).toBeUndefined()
    }
  })

  it('is not misled by records inside the data', () => {
    const inner = zip([member('inner.txt', TEXT.subarray(0, 500), { descriptor: 'signed' })])
    // A run of zeros looks like a descriptor of nothing at its very beginning.
    for (const content of [inner, new Uint8Array(100)]) {
      for (const archive of [streamed(content, true), streamed(content)]) {
        expect(unzip(archive, 50).error).toBeUndefined()
        expect(unzip(archive, 50).content).toEqual(content)
      }
    }
  })

  it('does not take a stored file that no one can delimit for a whole one', () => {
    // Stored, of unknown size, and its data begin with just what would follow an empty file: read from front to back
    // this cannot be told from an empty file and a second one. It must not pass in silence.
    const inner = zip([member('inner.txt', TEXT.subarray(0, 500))])
    const content = new Uint8Array(Buffer.concat([descriptor('signed', 0, 0, 0), inner]))
    expect(unzip(streamed(content), 50).content).toEqual(content)
    const { content: given, error } = unzip(streamed(content, true), 50)
    expect(given).toHaveLength(0)
    expect(error?.message).toContain('holds a second file, "inner.txt"')
  })

  it('is known by its first bytes', () => {
    expect(isZip(zipSync({ a: TEXT }))).toBe(true)
    expect(isZip(zipSync({}))).toBe(true)
    expect(isZip(bytes('PK\x03'))).toBe(false)
    expect(isZip(TEXT)).toBe(false)
  })

  it('warns of bytes after the end', () => {
    const archive = zipSync({ 'dump.txt': TEXT })
    const { content, error, warnings } = unzip(new Uint8Array(Buffer.concat([archive, bytes('more\n')])), 100)
    expect(error).toBeUndefined()
    expect(content).toEqual(TEXT)
    expect(warnings).toEqual([`zip: byte ${archive.length}: bytes after the end of the archive were left out`])
  })

  it.each([1, 3, 100, 65_536])('refuses a second archive after all of the first, in chunks of %i bytes', (size) => {
    const archive = zipSync({ 'dump.txt': TEXT })
    const { content, error } = unzip(new Uint8Array(Buffer.concat([archive, archive])), size)
    expect(content).toEqual(TEXT)
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'zip', offset: archive.length })
    expect(error?.message).toContain('a second archive follows')
  })

  it.each([1, 100])('warns of a few bytes after the end that begin like an archive, in chunks of %i bytes', (size) => {
    const archive = zipSync({ 'dump.txt': TEXT })
    const { content, error, warnings } = unzip(new Uint8Array(Buffer.concat([archive, bytes('PK\x03')])), size)
    expect(error).toBeUndefined()
    expect(content).toEqual(TEXT)
    expect(warnings).toEqual([`zip: byte ${archive.length}: bytes after the end of the archive were left out`])
  })

  it('reads over comments and what else may follow', () => {
    const archive = zip([member('dump.txt', TEXT)])
    const commented = new Uint8Array(Buffer.concat([archive.subarray(0, -2), Uint8Array.of(4, 0), bytes('note')]))
    expect(unzip(commented, 9)).toMatchObject({ error: undefined, warnings: [] })
    for (let cut = 1; cut <= 26; cut++) {
      expect(unzip(commented.subarray(0, -cut)).error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
    }
  })

  it('keeps what one step gives small, however much there is', { tags: ['slow'] }, () => {
    const bomb = zipSync({ zeros: new Uint8Array(50_000_000) })
    const stage = new Unzip()
    stage.feed(bomb)
    let most = 0
    let total = 0
    for (let out = stage.next(); out !== null; out = stage.next()) {
      most = Math.max(most, out.length)
      total += out.length
    }
    stage.end()
    for (let out = stage.next(); out !== null; out = stage.next()) total += out.length
    expect(total).toBe(50_000_000)
    expect(most).toBeLessThan(1_200_000)
  })

  it('gives the real one', { tags: ['corpus'] }, () => {
    const { content, error } = unzip(corpusFile('memory-replay/systemui.zip'), 65_536)
    expect(error).toBeUndefined()
    expect(Buffer.compare(content, corpusFile('memory-replay/systemui.txt'))).toBe(0)
  })
})

describe('faults in a zip', () => {
  it.each<[string, Uint8Array, string, string]>([
    ['encrypted', zip([member('dump.txt', TEXT, { flags: 1 })]), 'MALFORMED', 'is encrypted'],
    ['strongly encrypted', zip([member('dump.txt', TEXT, { flags: 0x41 })]), 'MALFORMED', 'is encrypted'],
    ['another method', zip([member('dump.txt', TEXT, { method: 93 })]), 'MALFORMED', 'method 93'],
    ['no file', zipSync({}), 'MALFORMED', 'holds no file'],
    ['directories only', zip([member('dumps/', bytes(''))]), 'MALFORMED', 'holds no file'],
    ['a directory with data', zip([member('dumps/', bytes('x'))]), 'MALFORMED', 'more bytes than there should be'],
    ['no zip', bytes('not a zip'), 'MALFORMED', 'no record'],
    ['no more than the beginning', bytes('PK'), 'TRUNCATED', 'ends before'],
    ['no bytes', bytes(''), 'TRUNCATED', 'ends before'],
  ])('%s', (_, archive, code, message) => {
    const { content, error } = unzip(archive)
    expect(content).toHaveLength(0)
    expect(error).toMatchObject({ code: `ERR_TRACE_${code}`, format: 'zip' })
    expect(error?.message).toContain(message)
  })

  it.each<[string, Uint8Array, string]>([
    [
      'a second file',
      zip([member('a.txt', TEXT), member('b\n.txt', TEXT)]),
      'holds a second file, "b\\n.txt"; the first one, "a.txt", was read whole',
    ],
    ['a wrong CRC-32', zip([member('dump.txt', TEXT, { crc: 1 })]), 'CRC-32'],
    ['a wrong CRC-32 behind the data', zip([member('dump.txt', TEXT, { crc: 1, descriptor: 'signed' })]), 'CRC-32'],
    [
      'too large a size',
      zip([member('dump.txt', TEXT, { size: TEXT.length + 1 })]),
      `has ${TEXT.length} bytes, and should have ${TEXT.length + 1}`,
    ],
    [
      'a wrong size behind the data',
      zip([member('dump.txt', TEXT, { size: 5, descriptor: 'signed' })]),
      'and should have 5',
    ],
    ['garbage behind the member', zip([member('dump.txt', TEXT), bytes('garbage')]), 'no record'],
  ])('%s, behind the whole file', (_, archive, message) => {
    const { content, error } = unzip(archive)
    expect(content).toEqual(TEXT)
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'zip' })
    expect(error?.message).toContain(message)
  })

  it('says when more comes out than should', () => {
    const { content, error } = unzip(zip([member('dump.txt', TEXT, { size: 10 })]))
    expect(content).toHaveLength(0)
    expect(error?.message).toContain('more bytes than there should be')
  })

  it('bounds what follows the end of the deflated data', () => {
    const padded = new Uint8Array(Buffer.concat([deflateRawSync(TEXT), new Uint8Array(1_000_000)]))
    for (const flags of [0, 8]) {
      const archive = new Uint8Array(
        Buffer.concat([local('dump.txt', { flags, crc: 0, compressed: padded.length, size: TEXT.length }), padded]),
      )
      const { content, error } = unzip(archive, 65_536)
      expect(content).toEqual(TEXT)
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED' })
    }
  })

  it('gives what could be inflated of a cut archive, and never passes for whole', { tags: ['slow'] }, () => {
    const small = TEXT.subarray(0, 2000)
    for (const archive of [
      zipSync({ a: small }),
      zipSync({ a: small }, { level: 0 }),
      streamed(small),
      streamed(small, true),
      zip([member('a', small, { descriptor: 'bare64' })]),
    ]) {
      const { length } = unzip(archive).content
      expect(length).toBe(2000)
      let most = 0
      for (let n = 0; n < archive.length; n++) {
        const { content, error } = unzip(archive.subarray(0, n), n % 5 === 0 ? 3 : undefined)
        expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', format: 'zip', offset: n })
        expect(content.length).toBeGreaterThanOrEqual(most)
        most = Math.min(content.length, 2000)
        expect(Buffer.compare(content.subarray(0, 2000), small.subarray(0, content.length))).toBe(0)
      }
      expect(most).toBe(2000)
    }
  })

  it('gives what could be inflated when the input was truncated elsewhere', () => {
    const stage = new Unzip()
    stage.feed(streamed(TEXT).subarray(0, 500))
    expect(stage.next()).toBeNull()
    stage.endTruncated()
    const out = stage.next()
    expect(out?.length).toBeGreaterThan(0)
    expect(stage.next()).toBeNull()
  })

  it('finds every flipped bit of the data or fails in no other way', () => {
    const small = TEXT.subarray(0, 600)
    for (const archive of [zipSync({ a: small }), streamed(small), streamed(small, true)]) {
      for (const bit of someOf(archive.length * 8)) {
        const flipped = archive.slice()
        flipped[bit >> 3] = flipped[bit >> 3] ^ (1 << (bit & 7))
        const { content, error } = unzip(flipped)
        if (error) expect(error).toBeInstanceOf(TraceError)
        else expect(content).toEqual(small)
      }
    }
  })

  it('passes over the end record of the archive only', () => {
    expect(unzip(new Uint8Array(Buffer.concat([member('a', TEXT), end()])))).toMatchObject({ error: undefined })
  })
})
