import { malformed, type TraceError } from '../../event/error.js'

/** The name of binary traces in messages and headers. */
export const FORMAT = 'metatf'

/** The first bytes of a trace file: octal 177 and `MTF`. */
export const MAGIC = Uint8Array.of(0x7f, 0x4d, 0x54, 0x46)

/** The sizes in bytes of the header before the DTD's name, and of each section header after it. */
export const HEAD = 28
export const SECTION_HEAD = 12

/** The maximum bytes of a DTD's name. */
export const MAX_NAME = 255

/** The maximum number of sections, by the number of IDs. */
const MAX_SECTIONS = 256

/** The maximum bytes of one value, such as the data of a vfield. */
export const MAX_BYTES = 1 << 16

/** The maximum bytes of one record. */
export const MAX_RECORD = 1 << 20

/** The maximum number of values of one record, including each repetition, and the maximum number of repetitions. */
export const MAX_VALUES = 1 << 16

/**
 * The number of repetitions of a record allowed beyond its number of bytes, because repeated fields may take no bytes,
 * and many short records must not become long events.
 */
export const FREE_ROUNDS = 1024

/** The order of bytes in numbers. */
export type ByteOrder = 'little' | 'big'

/** The place of a section in a trace file. */
export interface SectionHeader {
  /** ID of the section; 0 is the global one. */
  readonly id: number
  /** Bytes from the beginning of the file. */
  readonly start: number
  readonly size: number
}

/** The header of a trace file. */
export interface FileHeader {
  /** Bits of an address. */
  readonly addressSize: 32 | 64
  readonly byteOrder: ByteOrder
  /** The name of the DTD, a URL as a rule. */
  readonly dtd: string
  /** The offset in the file of the records that are in no listed section. */
  readonly start: number
  /** The number of data records; 0 if unknown. */
  readonly records: number
  readonly sections: readonly SectionHeader[]
  /** The size of the header in bytes. */
  readonly length: number
}

/** Whether bytes begin like a trace file with a header; fewer bytes than the magic number must match its beginning. */
export function hasMagic(bytes: Uint8Array, pos = 0, end = bytes.length): boolean {
  const length = Math.min(MAGIC.length, end - pos)
  for (let i = 0; i < length; i++) if (bytes[pos + i] !== MAGIC[i]) return false
  return true
}

/**
 * Reads the header of a trace file, from which the command learns which DTD to look for.
 *
 * @param bytes the first bytes of the file, from `pos` to `end`
 * @param format the format's name in messages
 * @returns null if more bytes are needed
 * @throws TraceError if it is malformed
 */
export function parseFileHeader(bytes: Uint8Array, pos = 0, end = bytes.length, format = FORMAT): FileHeader | null {
  const fail = (reason: string, offset: number): TraceError => malformed(reason, { format, offset, event: 1 })
  if (!hasMagic(bytes, pos, end)) throw fail('this does not begin like a Meta-TF trace file', 0)
  if (end - pos < HEAD) return null
  const addressClass = bytes[pos + 4]
  const order = bytes[pos + 5]
  if (addressClass !== 1 && addressClass !== 2)
    throw fail(`the class is ${addressClass}, neither 1 (32 bits) nor 2 (64 bits)`, 4)
  if (order !== 1 && order !== 2)
    throw fail(`the byte order is ${order}, neither 1 (little-endian) nor 2 (big-endian)`, 5)
  const view = new DataView(bytes.buffer, bytes.byteOffset + pos, end - pos)
  const u32 = (at: number) => view.getUint32(at, order === 1)
  const nameEnd = HEAD + bytes[pos + 6]
  const count = u32(16)
  if (count > MAX_SECTIONS) throw fail(`there are ${count} section headers, more than sections can have IDs`, 16)
  const length = nameEnd + count * SECTION_HEAD
  const start = u32(20)
  if (start < length) throw fail(`the records begin at byte ${start}, inside the header of ${length} bytes`, 20)
  if (end - pos < length) return null
  const sections = Array.from({ length: count }, (_, i): SectionHeader => {
    const at = nameEnd + i * SECTION_HEAD
    return { id: u32(at), start: u32(at + 4), size: u32(at + 8) }
  })
  return {
    addressSize: addressClass === 1 ? 32 : 64,
    byteOrder: order === 1 ? 'little' : 'big',
    dtd: Buffer.from(bytes.buffer, bytes.byteOffset + pos + HEAD, nameEnd - HEAD).toString('utf8'),
    start,
    records: u32(24),
    sections,
    length,
  }
}

/** The bytes of a header. @throws RangeError if the DTD's name takes more than 255 bytes */
export function formatFileHeader(header: Omit<FileHeader, 'length'>): Uint8Array {
  const { addressSize, byteOrder, sections } = header
  const name = new TextEncoder().encode(header.dtd)
  if (name.length > MAX_NAME) throw new RangeError(`the DTD's name has ${name.length} bytes, more than ${MAX_NAME}`)
  const bytes = new Uint8Array(headerLength(name.length, sections.length))
  const view = new DataView(bytes.buffer)
  const little = byteOrder === 'little'
  bytes.set(MAGIC)
  bytes[4] = addressSize === 32 ? 1 : 2
  bytes[5] = little ? 1 : 2
  bytes[6] = name.length
  view.setUint32(16, sections.length, little)
  view.setUint32(20, header.start, little)
  view.setUint32(24, header.records, little)
  bytes.set(name, HEAD)
  for (const [i, { id, start, size }] of sections.entries()) {
    const at = HEAD + name.length + i * SECTION_HEAD
    view.setUint32(at, id, little)
    view.setUint32(at + 4, start, little)
    view.setUint32(at + 8, size, little)
  }
  return bytes
}

export function headerLength(nameBytes: number, sections: number): number {
  return HEAD + nameBytes + sections * SECTION_HEAD
}

/** A part of a file, and its contents. */
export interface Span {
  /** The offsets of its first byte and of the byte after the last, which is Infinity if unknown. */
  readonly start: number
  readonly end: number
  /** The section in which it begins, or null if nothing in it is read. */
  readonly section: number | null
}

/**
 * The parts of a file: the listed sections and, between and after them, records of the global section (or of the
 * section given by section records), from `start` on.
 *
 * @throws TraceError if sections overlap each other or the header, or are listed twice, or differ from the DTD's
 */
export function spansOf({ sections, start, length }: FileHeader, known: ReadonlySet<number>, format = FORMAT): Span[] {
  const fail = (reason: string): TraceError => malformed(reason, { format, offset: 0, event: 1 })
  const spans: Span[] = []
  const gap = (from: number, to: number) => {
    if (from < Math.min(start, to)) spans.push({ start: from, end: Math.min(start, to), section: null })
    if (Math.max(from, start) < to) spans.push({ start: Math.max(from, start), end: to, section: 0 })
  }
  let at = length
  const seen = new Set<number>()
  for (const { id, start: from, size } of sections.toSorted((a, b) => a.start - b.start || a.size - b.size)) {
    if (!known.has(id)) throw fail(`the header lists section ${id}, which the DTD does not have`)
    if (seen.has(id)) throw fail(`the header lists section ${id} twice`)
    seen.add(id)
    if (from < at) throw fail(`section ${id} begins at byte ${from}, inside of what comes before it`)
    gap(at, from)
    at = from + size
    spans.push({ start: from, end: at, section: id })
  }
  gap(at, Infinity)
  return spans
}
