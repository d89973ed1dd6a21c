import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  debugLink,
  FunctionSymbols,
  MAX_NAME_BYTES,
  MAX_NOTE_BYTES,
  MAX_SECTIONS,
  MAX_SYMBOLS,
  readElf,
  type ReadAt,
} from '../../lib/symbols/elf.js'
import { elfFile } from './elf-bytes.js'
import { runs } from '../support/runs.js'
import { stopwatch } from '../support/stopwatch.js'

/** A small file: a header, a note with a build id, a symbol table with one function, and its strings. */
function small(is64: boolean, little: boolean): Uint8Array {
  const bytes = new Uint8Array(1024)
  const view = new DataView(bytes.buffer)
  const half = (at: number, value: number) => view.setUint16(at, value, little)
  const word = (at: number, value: number) => view.setUint32(at, value, little)
  const long = (at: number, value: number) =>
    is64 ? view.setBigUint64(at, BigInt(value), little) : view.setUint32(at, value, little)
  bytes.set([0x7f, 0x45, 0x4c, 0x46, is64 ? 2 : 1, little ? 1 : 2, 1])
  const sections = 512
  long(is64 ? 40 : 32, sections)
  half(is64 ? 58 : 46, is64 ? 64 : 40)
  half(is64 ? 60 : 48, 4)
  half(is64 ? 62 : 50, 3)
  const section = (i: number, name: number, type: number, offset: number, size: number, link: number) => {
    const at = sections + i * (is64 ? 64 : 40)
    word(at, name)
    word(at + 4, type)
    long(at + (is64 ? 24 : 16), offset)
    long(at + (is64 ? 32 : 20), size)
    word(at + (is64 ? 40 : 24), link)
  }
  section(1, 0, 7, 128, 20, 0)
  section(2, 0, 2, 160, is64 ? 24 : 16, 3)
  section(3, 0, 3, 200, 32, 0)
  word(128, 4)
  word(132, 4)
  word(136, 3)
  bytes.set([0x47, 0x4e, 0x55, 0], 140)
  bytes.set([0xab, 0xcd, 0x01, 0x02], 144)
  word(160, 1)
  bytes[160 + (is64 ? 4 : 12)] = 2
  half(160 + (is64 ? 6 : 14), 1)
  long(160 + (is64 ? 8 : 4), 0x1000)
  long(160 + (is64 ? 16 : 8), 0x20)
  bytes.set(new TextEncoder().encode('main'), 201)
  return bytes
}

const reader =
  (bytes: Uint8Array): ReadAt =>
  (offset, length) =>
    bytes.subarray(Math.min(offset, bytes.length), Math.min(offset + length, bytes.length))

/** Reads all that is read of a file. */
function readAll(bytes: Uint8Array, address: number): { buildId: string | undefined; name: string | undefined } {
  const read = reader(bytes)
  const elf = readElf(read)
  return { buildId: elf?.buildId, name: elf && FunctionSymbols.of(elf, read).nameAt(address) }
}

describe('ELF files', () => {
  test.each([
    ['app.debug\0\0\0\x01\x02\x03\x04', { name: 'app.debug', crc: 0x0403_0201 }],
    ['abc\0\x01\x02\x03\x04', { name: 'abc', crc: 0x0403_0201 }],
    // Without the CRC, without an end, without a name, and in another folder.
    ['app.debug\0\0\0\x01\x02\x03', undefined],
    ['app.debug', undefined],
    ['\0\0\0\0\x01\x02\x03\x04', undefined],
    ['../debug\0\0\0\0\x01\x02\x03\x04', undefined],
    ['', undefined],
  ])('the link to a debug file: %j', (content, link) => {
    for (const is64 of [true, false]) {
      const read = reader(elfFile({ is64, little: true, link: new TextEncoder().encode(content) }))
      const elf = readElf(read)
      expect(elf && debugLink(elf, read)).toEqual(link)
      expect(elf && FunctionSymbols.of(elf, read).nameAt(0x1000)).toBe('main')
    }
  })

  test.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])('64 bits %s, little-endian %s: build id and functions', (is64, little) => {
    const bytes = small(is64, little)
    expect(readAll(bytes, 0x1000)).toEqual({ buildId: 'abcd0102', name: 'main' })
    expect(readAll(bytes, 0x101f).name).toBe('main')
    expect(readAll(bytes, 0x1020).name).toBeUndefined()
    expect(readAll(bytes, 0xfff).name).toBeUndefined()
  })

  test('truncated at every byte, they have fewer names and are no error', () => {
    for (const is64 of [true, false]) {
      const bytes = small(is64, true)
      for (let n = 0; n < bytes.length; n++) {
        const { buildId, name } = readAll(bytes.subarray(0, n), 0x1000)
        expect([undefined, 'abcd0102']).toContain(buildId)
        expect([undefined, 'main']).toContain(name)
      }
    }
  })

  test('a real file, truncated anywhere or with any bytes changed, is read in bounded time', () => {
    const whole = new Uint8Array(readFileSync('/proc/self/exe').buffer).slice(0, 65_536)
    fc.assert(
      fc.property(
        fc.nat(whole.length),
        fc.array(fc.tuple(fc.nat(1024), fc.nat(255)), { maxLength: 16 }),
        (length, changes) => {
          const bytes = whole.slice(0, length)
          for (const [at, value] of changes) bytes[at] = value
          const time = stopwatch()
          readAll(bytes, 0x1000)
          expect(time()).toBeLessThan(1000)
        },
      ),
      { numRuns: runs(50) },
    )
  })

  test('random changes of a small file', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.boolean(),
        fc.array(fc.tuple(fc.nat(1023), fc.nat(255)), { minLength: 1, maxLength: 32 }),
        fc.nat(0xffff),
        (is64, little, changes, address) => {
          const bytes = small(is64, little)
          for (const [at, value] of changes) bytes[at] = value
          readAll(bytes, address)
        },
      ),
      { numRuns: runs(500) },
    )
  })

  test('sizes of 2^63 and counts of 2^32 - 1 take neither time nor memory', () => {
    const bytes = small(true, true)
    const view = new DataView(bytes.buffer)
    view.setUint16(60, 0, true)
    view.setBigUint64(512 + 32, 0xffff_ffffn, true)
    for (const at of [1, 2, 3]) view.setBigUint64(512 + 64 * at + 32, 2n ** 53n - 1n, true)
    expect(() => readAll(bytes, 0x1000)).not.toThrow()
  })

  test('a file with many symbol tables is read once, and has the functions of the first', () => {
    const bytes = elfFile({ is64: true, little: true, symbols: 20_000, tables: 20_000 })
    let given = 0
    const read: ReadAt = (offset, length) => {
      const part = reader(bytes)(offset, length)
      given += part.length
      return part
    }
    const symbols = FunctionSymbols.of(readElf(read)!, read)
    expect(symbols.size).toBe(20_000)
    expect(symbols.nameAt(0x1000 + 32 * 12_345)).toBe('f12345')
    expect(given).toBeLessThan(3 * bytes.length)
  })

  /** The small file, of which a section is at its end instead, with other bytes. */
  function withSection(i: number, contents: Uint8Array): Uint8Array {
    const before = small(true, true)
    const view = new DataView(before.buffer)
    view.setBigUint64(512 + i * 64 + 24, BigInt(before.length), true)
    view.setBigUint64(512 + i * 64 + 32, BigInt(contents.length), true)
    return new Uint8Array(Buffer.concat([before, contents]))
  }

  test('a name is read up to a limit', () => {
    for (const length of [MAX_NAME_BYTES - 1, MAX_NAME_BYTES, MAX_NAME_BYTES + 1]) {
      const names = Buffer.from(`\0${'f'.repeat(length)}\0`)
      expect(readAll(withSection(3, names), 0x1000).name).toHaveLength(Math.min(length, MAX_NAME_BYTES))
    }
  })

  test('notes are read up to a limit', () => {
    const id = small(true, true).subarray(128, 148)
    for (const more of [-4, 0, 4]) {
      // A note without a name, whose contents precede the one with the id.
      const notes = Buffer.alloc(MAX_NOTE_BYTES + more)
      notes.writeUInt32LE(notes.length - id.length - 12, 4)
      notes.set(id, notes.length - id.length)
      expect(readAll(withSection(1, notes), 0x1000).buildId).toBe(more > 0 ? undefined : 'abcd0102')
    }
  })

  test('sections are read up to a limit', { tags: ['slow'] }, () => {
    for (const count of [MAX_SECTIONS - 1, MAX_SECTIONS, MAX_SECTIONS + 1]) {
      const bytes = new Uint8Array(512 + 64 * count)
      bytes.set(small(true, true).subarray(0, 768))
      const view = new DataView(bytes.buffer)
      // Their number is in the header of the first one.
      view.setUint16(60, 0, true)
      view.setBigUint64(512 + 32, BigInt(count), true)
      expect(readElf(reader(bytes))?.sections).toHaveLength(Math.min(count, MAX_SECTIONS))
    }
  })

  test('functions are read up to a limit', { tags: ['large'] }, () => {
    for (const count of [MAX_SYMBOLS - 1, MAX_SYMBOLS, MAX_SYMBOLS + 1]) {
      const table = new Uint8Array(24 * count)
      const symbol = small(true, true).subarray(160, 184)
      for (let i = 0; i < count; i++) table.set(symbol, 24 * i)
      const read = reader(withSection(2, table))
      expect(FunctionSymbols.of(readElf(read)!, read).size).toBe(Math.min(count, MAX_SYMBOLS))
    }
  })

  test('a table of symbols that does not end is read up to a limit', { tags: ['slow'] }, () => {
    const bytes = small(true, true)
    new DataView(bytes.buffer).setBigUint64(512 + 2 * 64 + 32, 2n ** 52n, true)
    let given = 0
    // A file with holes, as large as it says.
    const read: ReadAt = (offset, length) => {
      given += length
      if (offset + length <= bytes.length) return bytes.subarray(offset, offset + length)
      const part = new Uint8Array(length)
      part.set(reader(bytes)(offset, length))
      return part
    }
    const symbols = FunctionSymbols.of(readElf(read)!, read)
    expect(symbols.nameAt(0x1000)).toBe('main')
    expect(given).toBeLessThan(17 * 2 ** 20 * 24)
  })
})
