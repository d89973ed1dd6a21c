import type { TraceHeader } from '../../event/header.js'
import { showJson } from '../../event/message-text.js'
import { info } from './info.js'

export { MAX_LEB, MAX_NAME, NAME_ENTRIES } from '../../kernel/layouts/mtrc.js'

/** The format's name, in headers and messages. */
export const FORMAT = info.name

/** `MTRC`: the header begins with it, and it is the whole end marker. */
export const MAGIC = Uint8Array.of(0x4d, 0x54, 0x52, 0x43)

/** The first byte of each record: the ASCII letter of its type. `mark` is the first byte of `MAGIC`. */
export const RECORD = { alloc: 0x41, free: 0x46, reserve: 0x48, internal: 0x49, mark: 0x4d, realloc: 0x52 } as const

/** From this version on (1.4.5) allocation records end with thread, function, file and line. */
export const SOURCES_VERSION = 10_405

/** The version of new traces: 1.5.1, the latest. */
const DEFAULT_VERSION = 10_501

/** The version word is major * 10000 + minor * 100 + patch; a header with one outside these bounds is invalid. */
export const MIN_VERSION = 10_000
/** See `MIN_VERSION`. */
export const MAX_VERSION = 999_999

/** The type of memory that mpatrol reserves for itself (`I` records); memory for the program (`H`) has none. */
export const INTERNAL_TYPE = 'internal'

/** The contents of a header, sufficient to write the same header again. */
export interface MtrcLayout {
  /** major * 10000 + minor * 100 + patch */
  readonly version: number
  /** Bytes of the recording machine's `size_t`. */
  readonly wordSize: 4 | 8
  /** Bytes of its `unsigned long`. */
  readonly longSize: 4 | 8
  readonly byteOrder: 'little' | 'big'
  /**
   * How the previous trace of the stream ended. `cut`: without an end marker, so that this trace's header stands where
   * a record was expected. Absent: with an end marker.
   */
  readonly follows?: 'cut'
}

/** The layout of new traces. */
export const DEFAULT_LAYOUT: MtrcLayout = { version: DEFAULT_VERSION, wordSize: 8, longSize: 8, byteOrder: 'little' }

// LP64 precedes LLP64, because a 64-bit version word in little-endian order begins with the bytes of LLP64's version
// word.
const FORMS = (['little', 'big'] as const).flatMap((byteOrder) => [
  { wordSize: 4, longSize: 4, byteOrder } as const,
  { wordSize: 8, longSize: 8, byteOrder } as const,
  { wordSize: 8, longSize: 4, byteOrder } as const,
])

/**
 * Reads a header.
 * @param pos where its `M` should be
 * @param end one past the last available byte
 * @returns the layout, `short` if these bytes could be the beginning of a header or of more than one form, or `bad`
 */
export function readHeader(bytes: Uint8Array, pos: number, end: number): MtrcLayout | 'short' | 'bad' {
  for (let i = 0; i < MAGIC.length; i++) {
    if (pos + i === end) return 'short'
    if (bytes[pos + i] !== MAGIC[i]) return 'bad'
  }
  for (const form of FORMS) {
    const version = readVersion(bytes, pos + MAGIC.length, end, form)
    if (version === 'short') return 'short'
    if (version !== 'bad') return { version, ...form }
  }
  return 'bad'
}

/** The size of a layout's header in bytes: 12, 16 or 20. */
export function headerLength(layout: MtrcLayout): number {
  return MAGIC.length + layout.wordSize + layout.longSize
}

/** Writes the header of a layout. */
export function writeHeader(layout: MtrcLayout): Uint8Array {
  const bytes = new Uint8Array(headerLength(layout))
  bytes.set(MAGIC)
  putWord(bytes, MAGIC.length, layout.wordSize, layout.byteOrder, 1)
  putWord(bytes, MAGIC.length + layout.wordSize, layout.longSize, layout.byteOrder, layout.version)
  return bytes
}

/** The layout to write a trace with this header, or the problem with the header's own layout. */
export function layoutOf(header: TraceHeader): MtrcLayout | string {
  if (header.format !== FORMAT) return DEFAULT_LAYOUT
  const { version, wordSize, longSize, byteOrder, follows } = { ...DEFAULT_LAYOUT, ...header.layout } as Record<
    string,
    unknown
  >
  const form = FORMS.find((f) => f.wordSize === wordSize && f.longSize === longSize && f.byteOrder === byteOrder)
  if (form === undefined) {
    return (
      `no header has wordSize ${showJson(wordSize)}, longSize ${showJson(longSize)} and byteOrder ` +
      `${showJson(byteOrder)}`
    )
  }
  if (typeof version !== 'number' || !Number.isInteger(version) || !isVersion(version)) {
    return `the version ${showJson(version)} is not between ${MIN_VERSION} and ${MAX_VERSION}`
  }
  return follows === 'cut' ? { version, ...form, follows } : { version, ...form }
}

/** Whether a version writes thread, function, file and line. */
export function hasSources(layout: MtrcLayout): boolean {
  return layout.version >= SOURCES_VERSION
}

function isVersion(version: number): boolean {
  return version >= MIN_VERSION && version <= MAX_VERSION
}

/** The version of a header whose two words begin at `pos`, if they can be of this form. */
function readVersion(
  bytes: Uint8Array,
  pos: number,
  end: number,
  form: (typeof FORMS)[number],
): number | 'short' | 'bad' {
  const { wordSize, longSize, byteOrder } = form
  let version = 0
  for (let i = 0; i < wordSize + longSize; i++) {
    if (pos + i >= end) return 'short'
    const byte = bytes[pos + i]
    if (i < wordSize) {
      const one = byteOrder === 'little' ? i === 0 : i === wordSize - 1
      if (byte !== (one ? 1 : 0)) return 'bad'
    } else {
      const weight = byteOrder === 'little' ? i - wordSize : wordSize + longSize - 1 - i
      // No version needs more than 4 bytes, so the bytes after a 32-bit version word distinguish it from a 64-bit one.
      if (weight >= 4 && byte !== 0) return 'bad'
      version += byte * 256 ** weight
    }
  }
  return isVersion(version) ? version : 'bad'
}

function putWord(bytes: Uint8Array, pos: number, size: 4 | 8, byteOrder: 'little' | 'big', value: number): void {
  const view = new DataView(bytes.buffer)
  if (byteOrder === 'little') view.setUint32(pos, value, true)
  else view.setUint32(pos + size - 4, value, false)
}
