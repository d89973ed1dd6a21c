import { fieldSet } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Carried, Filling } from '../../event/losses.js'
import { decodeText, encodeText } from '../../event/strings.js'
import { info } from './info.js'

/** The format's name in folders, commands, headers and messages. */
export const NAME = info.name

/** Longer lines are refused. */
export const MAX_LINE = 65_536

/** The newest version of files. */
export const NEWEST = 3
/** The first version in which strings follow their lengths. */
export const SIZED_STRINGS = 3

/** Limits: the bytes of a trace's strings; the numbers of strings, of instructions and of nodes. */
export const MAX_STRING_BYTES = 268_435_456
export const MAX_STRINGS = 4_194_304
export const MAX_ENTRIES = 4_194_304
export const MAX_NODES = 16_777_216
/** The maximum number of names that the entries of all instructions may have together. */
export const MAX_NAMES = 2 ** 25
/**
 * The maximum number of bytes in the texts of a stack's frames. A repeated frame counts each time, because encoders
 * repeat it, too.
 */
export const MAX_STACK_BYTES = 262_144
/** The maximum number of frames inlined in one, so that the line of an instruction does not become too long. */
export const MAX_INLINED = 2048

/** The size of a page if the trace does not state it. */
export const DEFAULT_PAGE_SIZE = 4096

/** The codes of events of kind `other`: the letters of their lines. */
export const Code = {
  /** `c`: the time. */
  time: 0x63,
  /** `R`: the resident size of the process. */
  resident: 0x52,
} as const

/** The information before the first event of a file, stored in its header's `layout`. */
export interface HeaptrackLayout {
  /** Whether the file is the preloaded library's output; otherwise `heaptrack_interpret` has processed it. */
  readonly raw: boolean
  /** heaptrack's version: `1.4.0`. */
  readonly heaptrack: string
  /** The file's version; absent, which means 1, if the line does not state it. */
  readonly version?: number
  /** The path of the program. */
  readonly executable?: string
  /** The command line, of several lines if an argument has line feeds. */
  readonly command?: string
  /** The size of a page in bytes, and the machine's memory in pages. */
  readonly pageSize?: number
  readonly pages?: number
}

/** The layout of traces from other formats. */
export const DEFAULT_LAYOUT: HeaptrackLayout = { raw: false, heaptrack: '1.4.0', version: 3 }

export function headerOf(layout: HeaptrackLayout): TraceHeader {
  return { format: NAME, timeUnit: 'us', layout: { ...layout } }
}

/** The text of heaptrack's version number: 0x10400 is 1.4.0. */
export function versionText(number: number): string {
  return `${number >>> 16}.${(number >>> 8) & 0xff}.${number & 0xff}`
}

/** The inverse of `versionText`; undefined if the text is not a version. */
export function versionNumber(text: string): number | undefined {
  const parts = /^([0-9]{1,5})\.([0-9]{1,3})\.([0-9]{1,3})$/.exec(text)
  if (parts === null) return undefined
  const [major, minor, patch] = parts.slice(1).map(Number) as [number, number, number]
  const number = major * 65_536 + minor * 256 + patch
  return minor < 256 && patch < 256 && major < 65_536 ? number : undefined
}

/** A string as it is written in a line: in newer versions of the file, after its length. */
export function stringText(text: string, version: number): string {
  return version >= SIZED_STRINGS ? `${encodeText(text).length.toString(16)} ${text}` : text
}

/**
 * Finds the string that begins at `start` and ends before `end` or, in versions where a space ends strings, before a
 * space.
 * @returns the position after it, or -1 if its length is wrong
 */
export function stringEnd(bytes: Uint8Array, start: number, end: number, version: number, isLast: boolean): Span {
  if (version < SIZED_STRINGS) {
    if (isLast) return { start, end }
    const space = bytes.subarray(start, end).indexOf(0x20)
    return { start, end: space < 0 ? end : start + space }
  }
  const { value, next } = hexAt(bytes, start, end)
  const from = next + 1
  const to = from + value
  if (next === start || bytes[next] !== 0x20 || to > end || (isLast && to !== end)) return NO_SPAN
  return { start: from, end: to }
}

/** The position of a string. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** No string. */
export const NO_SPAN: Span = { start: -1, end: -1 }

/** The hex number at `p`, and the position after it; `p` itself if there is none, or one above 2^32. */
export function hexAt(bytes: Uint8Array, p: number, end: number): { value: number; next: number } {
  let value = 0
  let next = p
  for (; next < end && next < p + 8; next++) {
    const c = bytes[next]
    const digit = c >= 0x30 && c <= 0x39 ? c - 0x30 : c >= 0x61 && c <= 0x66 ? c - 0x57 : -1
    if (digit < 0) break
    value = value * 16 + digit
  }
  return { value, next }
}

/** A text from bytes of a line. */
export function textOf(bytes: Uint8Array, { start, end }: Span): string {
  return decodeText(bytes.subarray(start, end))
}

const PLACE = ['function', 'file', 'line', 'module', 'callSite', 'stack'] as const

/**
 * The fields that an interpreted file can represent. A place without a stack becomes a stack of one frame, which is
 * counted.
 */
export const CARRIED: Carried = {
  alloc: fieldSet('time', 'size', ...PLACE),
  existing: fieldSet('time', 'size', ...PLACE),
  realloc: fieldSet('time', 'size', 'outcome', ...PLACE),
  free: fieldSet('time'),
  comment: fieldSet('time', 'text'),
  other: fieldSet('time', 'code', 'present'),
}

const ADDRESS = fieldSet('address')

/**
 * The fields that a file of the same sort can represent: raw files have addresses, and the addresses that the decoder
 * assigned to the blocks of an interpreted file are restored.
 */
export const OWN_CARRIED: Carried = {
  ...CARRIED,
  alloc: (CARRIED.alloc as number) | ADDRESS,
  existing: (CARRIED.existing as number) | ADDRESS,
  realloc: (CARRIED.realloc as number) | ADDRESS | fieldSet('oldAddress'),
  free: (CARRIED.free as number) | ADDRESS,
}

/** The fields that a trace cannot omit, besides those that the encoder counts itself. */
export const FILLED: readonly Filling[] = [
  { field: 'size', kinds: ['alloc', 'existing'], as: '0' },
  { field: 'time', kinds: ['alloc', 'existing', 'realloc', 'free', 'comment', 'other'], as: 'the last one' },
]

/** The layout in a header; the default one unless the header is of this format. */
export function layoutOf({ format, layout }: TraceHeader): HeaptrackLayout {
  if (format !== NAME) {
    const command = `(${format})`
    return { ...DEFAULT_LAYOUT, ...(isLine(command) && { command }), pageSize: DEFAULT_PAGE_SIZE, pages: 0 }
  }
  const { raw, heaptrack, version, executable, command, pageSize, pages } = layout ?? {}
  const isVersion = typeof version === 'number' && Number.isInteger(version) && version >= 0 && version <= NEWEST
  const said = typeof heaptrack === 'string' && versionNumber(heaptrack) !== undefined ? heaptrack : undefined
  const hasMemory = isNumber(pageSize) && isNumber(pages)
  return {
    raw: raw === true,
    heaptrack: said ?? DEFAULT_LAYOUT.heaptrack,
    ...(isVersion && { version }),
    // This line identifies a raw file.
    ...(raw === true && { executable: isLine(executable) ? executable : '' }),
    ...((isLine(command) || (hasMemory && areLines(command))) && { command }),
    ...(hasMemory && { pageSize, pages }),
  }
}

function isLine(value: unknown): value is string {
  return typeof value === 'string' && value.length < MAX_LINE / 4 && !value.includes('\n')
}

/** Whether a command of several lines can be written: its end is the line with the memory. */
function areLines(value: unknown): value is string {
  return typeof value === 'string' && value.length < MAX_LINE / 4 && !/^I [0-9a-f]+ [0-9a-f]+$/m.test(value)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32
}

/** Larger numbers of milliseconds are not times. */
export const MAX_MILLISECONDS = 2 ** 43
