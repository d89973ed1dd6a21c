import { decodeText } from '../event/strings.js'

/**
 * Reads what names need of an ELF file: its build id, and its function symbols (System V ABI, chapters 4 and 5; the
 * build id is the note of type 3 of "GNU"). Nothing in the file is trusted: each position and size is checked, so that
 * damaged files have fewer names, and memory is bounded by the limits below.
 */

/** Reads `length` bytes at `offset`, or fewer at the end of the file. */
export type ReadAt = (offset: number, length: number) => Uint8Array

/** The maximum number of sections that are looked at. */
export const MAX_SECTIONS = 65_536
/** The maximum number of symbols of a file that are read. */
export const MAX_SYMBOLS = 1_000_000
/** The maximum number of entries of a symbol table that are looked at, for functions and others. */
export const MAX_ENTRIES = 16_777_216
/** The maximum length of notes, and of a symbol's name, in bytes. */
export const MAX_NOTE_BYTES = 65_536
export const MAX_NAME_BYTES = 8192
/** Symbols are read in pieces of this number of bytes; it is a multiple of the sizes of symbols. */
const PIECE_BYTES = 24 * 65_536
/** The maximum size of the table of sections, or of segments, that is read. */
const MAX_TABLE_BYTES = 8 * 1_048_576
/** The longest build id that is taken for one. */
const MAX_ID_BYTES = 64

const [SHT_SYMTAB, SHT_NOTE, SHT_NOBITS, SHT_DYNSYM] = [2, 7, 8, 11]
const SHF_COMPRESSED = 0x800
const ELFCOMPRESS_ZLIB = 1
const [STT_FUNC, STT_GNU_IFUNC] = [2, 10]
const NT_GNU_BUILD_ID = 3
const [PT_LOAD, PT_NOTE] = [1, 4]

interface Section {
  readonly name: number
  readonly type: number
  readonly isCompressed: boolean
  readonly offset: number
  readonly size: number
  readonly link: number
  readonly entrySize: number
}

/** A part of a file that is loaded into memory: its address in the file, and its size in memory, in bytes. */
export interface LoadedPart {
  readonly address: number
  readonly size: number
}

/** The layout of fields: their width and byte order. */
interface Words {
  readonly is64: boolean
  readonly little: boolean
}

/** An ELF file. */
export interface Elf extends Words {
  /** The build id in hexadecimal, if the file has one. */
  readonly buildId?: string
  /** Whether the file has line tables (DWARF). */
  readonly hasLines: boolean
  readonly sections: readonly Section[]
  /** The one with the names of all. */
  readonly names?: Section
  /** The parts that are loaded into memory. */
  readonly loaded: readonly LoadedPart[]
}

/** An unsigned number of 4 or 8 bytes; 0 beyond the end, and for numbers of more than 53 bits. */
function word({ is64, little }: Words, view: DataView, at: number, size: 4 | 8 = is64 ? 8 : 4): number {
  if (at + size > view.byteLength) return 0
  if (size === 4) return view.getUint32(at, little)
  const value = view.getBigUint64(at, little)
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? 0 : Number(value)
}

function half({ little }: Words, view: DataView, at: number): number {
  return at + 2 > view.byteLength ? 0 : view.getUint16(at, little)
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/**
 * Reads the headers of a file. @returns undefined if it is not an ELF file
 * @param read the function that reads the file
 */
export function readElf(read: ReadAt): Elf | undefined {
  const header = read(0, 64)
  const isElf = header.length >= 52 && header[0] === 0x7f && String.fromCharCode(...header.subarray(1, 4)) === 'ELF'
  if (!isElf || (header[4] !== 1 && header[4] !== 2) || (header[5] !== 1 && header[5] !== 2)) return undefined
  const words: Words = { is64: header[4] === 2, little: header[5] === 1 }
  const view = viewOf(header)
  const sections = readSections(read, words, view)
  const shstrndx = half(words, view, words.is64 ? 62 : 50)
  const names = sections[shstrndx === 0xffff ? (sections[0]?.link ?? 0) : shstrndx]
  const hasLines = sections.some(
    (section) =>
      section.type !== SHT_NOBITS &&
      names !== undefined &&
      /^\.z?debug_line$/.test(stringAt(read, names, section.name, 16)),
  )
  const segments = readSegments(read, words, view)
  const noted = [
    ...sections.filter(({ type }) => type === SHT_NOTE),
    ...segments.filter(({ type }) => type === PT_NOTE),
  ]
  const buildId = firstOf(noted, ({ offset, size }) => buildIdIn(words, read(offset, Math.min(size, MAX_NOTE_BYTES))))
  const loaded = segments
    .filter(({ type }) => type === PT_LOAD)
    .map(({ address, inMemory }) => ({ address, size: inMemory }))
  return {
    ...words,
    sections,
    loaded,
    hasLines,
    ...(names !== undefined && { names }),
    ...(buildId !== undefined && { buildId }),
  }
}

/**
 * The bytes of a section by its name; none if it is not there, or has more than `most`.
 * @param inflate inflates zlib's format to so many bytes; without it, a compressed section has none
 */
export function sectionBytes(
  elf: Elf,
  read: ReadAt,
  name: string,
  most: number,
  inflate?: (bytes: Uint8Array, size: number) => Uint8Array,
): Uint8Array {
  const { sections, names, is64 } = elf
  const none = new Uint8Array(0)
  const section = sections.find(
    (one) => one.type !== SHT_NOBITS && names !== undefined && stringAt(read, names, one.name, 32) === name,
  )
  if (section === undefined || section.size > most || (section.isCompressed && inflate === undefined)) return none
  const bytes = read(section.offset, section.size)
  if (inflate === undefined || !section.isCompressed) return bytes
  // A header with the type of compression and the size comes first.
  const header = viewOf(bytes)
  const size = word(elf, header, is64 ? 8 : 4)
  if (word(elf, header, 0, 4) !== ELFCOMPRESS_ZLIB || size > most) return none
  return inflate(bytes.subarray(is64 ? 24 : 12), size)
}

/** The name of the file with a file's debug information, and its CRC-32 (GDB manual, "Separate Debug Files"). */
export interface DebugLink {
  /** A name without a folder. */
  readonly name: string
  readonly crc: number
}

/** The longest name of a file on Linux, in bytes, with what follows it in `.gnu_debuglink`. */
const MAX_LINK_BYTES = 264

/** The link of a file to its debug information; undefined if it has none. */
export function debugLink(elf: Elf, read: ReadAt): DebugLink | undefined {
  const bytes = sectionBytes(elf, read, '.gnu_debuglink', MAX_LINK_BYTES)
  const end = bytes.indexOf(0)
  // The CRC is at the next multiple of four bytes.
  const at = (end + 4) & ~3
  const name = decodeText(bytes.subarray(0, Math.max(end, 0)))
  if (name === '' || name.includes('/') || at + 4 > bytes.length) return undefined
  return { name, crc: viewOf(bytes).getUint32(at, elf.little) }
}

function firstOf<Item, Result>(items: readonly Item[], find: (item: Item) => Result | undefined): Result | undefined {
  // More notes than this are not looked at: each is a read.
  for (const item of items.slice(0, 256)) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

function readSections(read: ReadAt, words: Words, header: DataView): Section[] {
  const { is64 } = words
  const start = word(words, header, is64 ? 40 : 32)
  const step = half(words, header, is64 ? 58 : 46)
  const least = is64 ? 64 : 40
  if (start === 0 || step < least) return []
  const sectionAt = (view: DataView, at: number): Section => ({
    name: word(words, view, at, 4),
    type: word(words, view, at + 4, 4),
    isCompressed: (word(words, view, at + 8) & SHF_COMPRESSED) !== 0,
    offset: word(words, view, at + (is64 ? 24 : 16)),
    size: word(words, view, at + (is64 ? 32 : 20)),
    link: word(words, view, at + (is64 ? 40 : 24), 4),
    entrySize: word(words, view, at + (is64 ? 56 : 36)),
  })
  let count = half(words, header, is64 ? 60 : 48)
  // A larger number is in the first section's header.
  if (count === 0) count = sectionAt(viewOf(read(start, least)), 0).size
  const table = viewOf(read(start, Math.min(Math.min(count, MAX_SECTIONS) * step, MAX_TABLE_BYTES)))
  const sections: Section[] = []
  for (let at = 0; at + least <= table.byteLength; at += step) sections.push(sectionAt(table, at))
  return sections
}

interface Segment {
  readonly type: number
  readonly offset: number
  /** Its size in the file. */
  readonly size: number
  readonly address: number
  readonly inMemory: number
}

/** The program headers, which files without sections have, too. */
function readSegments(read: ReadAt, words: Words, header: DataView): Segment[] {
  const { is64 } = words
  const start = word(words, header, is64 ? 32 : 28)
  const step = half(words, header, is64 ? 54 : 42)
  const count = half(words, header, is64 ? 56 : 44)
  const least = is64 ? 56 : 32
  if (start === 0 || step < least) return []
  const table = viewOf(read(start, Math.min(count * step, MAX_TABLE_BYTES)))
  const segments: Segment[] = []
  for (let at = 0; at + least <= table.byteLength; at += step)
    segments.push({
      type: word(words, table, at, 4),
      offset: word(words, table, at + (is64 ? 8 : 4)),
      address: word(words, table, at + (is64 ? 16 : 8)),
      size: word(words, table, at + (is64 ? 32 : 16)),
      inMemory: word(words, table, at + (is64 ? 40 : 20)),
    })
  return segments
}

function buildIdIn(words: Words, notes: Uint8Array): string | undefined {
  const view = viewOf(notes)
  for (let at = 0; at + 12 <= notes.length;) {
    const nameSize = word(words, view, at, 4)
    const size = word(words, view, at + 4, 4)
    const isId = word(words, view, at + 8, 4) === NT_GNU_BUILD_ID && nameSize === 4
    const from = at + 12 + 4 * Math.ceil(nameSize / 4)
    if (isId && word(words, view, at + 12, 4) === (words.little ? 0x554e47 : 0x474e5500)) {
      if (size === 0 || size > MAX_ID_BYTES || from + size > notes.length) return undefined
      return Array.from(notes.subarray(from, from + size), (byte) => byte.toString(16).padStart(2, '0')).join('')
    }
    at = from + 4 * Math.ceil(size / 4)
  }
  return undefined
}

function stringAt(read: ReadAt, { offset, size }: Pick<Section, 'offset' | 'size'>, at: number, limit: number): string {
  if (at >= size) return ''
  const bytes = read(offset + at, Math.min(size - at, limit))
  const end = bytes.indexOf(0)
  return decodeText(end < 0 ? bytes : bytes.subarray(0, end))
}

/** The function symbols of a file, in the order of their addresses. */
export class FunctionSymbols {
  private constructor(
    private readonly read: ReadAt,
    private readonly addresses: Float64Array,
    private readonly sizes: Float64Array,
    /** The positions of the names in the file. */
    private readonly names: Float64Array,
    private readonly ends: Float64Array,
  ) {}

  /** Reads the symbols of `.symtab` and of `.dynsym`. */
  static of(elf: Elf, read: ReadAt): FunctionSymbols {
    const found: { address: number; size: number; name: number; end: number }[] = []
    // A file has one table of each type: more would cost the time of a file for each.
    for (const type of [SHT_SYMTAB, SHT_DYNSYM]) {
      const table = elf.sections.find((section) => section.type === type)
      const strings = elf.sections[table?.link ?? 0]
      if (table === undefined || strings === undefined) continue
      for (const symbol of symbolsOf(elf, read, table)) {
        if (found.length === MAX_SYMBOLS) break
        if (symbol.name >= strings.size) continue
        found.push({ ...symbol, name: strings.offset + symbol.name, end: strings.offset + strings.size })
      }
    }
    // Symbols of one address keep their order: the symbols of .symtab, which come first, win.
    found.sort((a, b) => a.address - b.address)
    const column = (of: (symbol: (typeof found)[number]) => number) => Float64Array.from(found, of)
    return new FunctionSymbols(
      read,
      column((symbol) => symbol.address),
      column((symbol) => symbol.size),
      column((symbol) => symbol.name),
      column((symbol) => symbol.end),
    )
  }

  /** The number of symbols. */
  get size(): number {
    return this.addresses.length
  }

  /** The name of the function that contains an address, as it is in the file; undefined if there is none. */
  nameAt(address: number): string | undefined {
    const { addresses, sizes } = this
    let from = 0
    let to = addresses.length
    while (from < to) {
      const middle = (from + to) >> 1
      if (addresses[middle] <= address) from = middle + 1
      else to = middle
    }
    const start = addresses[from - 1]
    // Of the symbols at one address, the first one that contains the address; a symbol without size ends at the next
    // one.
    for (let i = from - 1; i >= 0 && i > from - 64 && addresses[i] === start; i--) {
      const size = sizes[i]
      if (size !== 0 && address >= start + size) continue
      const at = this.names[i]
      const name = stringAt(this.read, { offset: at, size: this.ends[i] - at }, 0, MAX_NAME_BYTES)
      if (name !== '') return name
    }
    return undefined
  }
}

function* symbolsOf(
  elf: Elf,
  read: ReadAt,
  table: Section,
): Generator<{ address: number; size: number; name: number }> {
  const { is64 } = elf
  const step = is64 ? 24 : 16
  const size = Math.min(table.size, MAX_ENTRIES * step)
  for (let done = 0; done < size; done += PIECE_BYTES) {
    const length = Math.min(PIECE_BYTES, size - done)
    const piece = viewOf(read(table.offset + done, length))
    for (let at = 0; at + step <= piece.byteLength; at += step) {
      const type = piece.getUint8(at + (is64 ? 4 : 12)) & 15
      if ((type !== STT_FUNC && type !== STT_GNU_IFUNC) || half(elf, piece, at + (is64 ? 6 : 14)) === 0) continue
      const address = word(elf, piece, at + (is64 ? 8 : 4))
      yield { name: word(elf, piece, at, 4), address, size: word(elf, piece, at + (is64 ? 16 : 8)) }
    }
    // A table that is longer than the file ends with it.
    if (piece.byteLength < length) return
  }
}
