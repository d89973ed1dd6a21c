import { ascii } from '../../text/ascii.js'
import { fieldSet } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Carried, Filling } from '../../event/losses.js'
import { info } from './info.js'

/** The format's name in folders, commands, headers and messages. */
export const NAME = info.name

/** Longer lines are rejected. Stack crawls of C++ programs take a few kilobytes. */
export const MAX_LINE = 1 << 20
/** The longest type that the encoder writes. */
export const MAX_TYPE = 1 << 16
/** The longest stack crawl that the encoder writes. A line that also has the longest type can still be read. */
export const MAX_CRAWL = MAX_LINE - MAX_TYPE - 1024

/** `|`, which separates the functions of a stack crawl. */
export const BAR = 0x7c

/** The time of a block that was on the heap when monitoring began. */
export const OLD = ascii('old')
/** The size of a deletion. */
export const DEL = ascii('del')
/** The type of a block without a v-table pointer: the format's word for no type. */
export const NOVTBL = ascii('novtbl')
/** The type of a block whose v-table pointer is invalid. */
export const NOTYPE = ascii('notype')

/** The column headings of the header row. */
export const COLUMN_HEADINGS = ['Thread', 'Time of event', 'Address', 'Size', 'Type', 'Stack crawl'] as const
/** The widths of all columns except the last, where spaces separate them. */
export const WIDTHS = [12, 20, 12, 8, 16] as const
/** Lines indented by more spaces are read, but written with less indentation. */
export const MAX_INDENT = 64

/** The appearance of a file's lines, stored in its header's `layout`. */
export interface HeapmonLayout {
  /** Whether the file has a header row. */
  readonly headerRow: boolean
  /** The column separator: a tab, or spaces up to the start of the next column. */
  readonly separator: 'tab' | 'spaces'
  /** The number of spaces at the start of each line. */
  readonly indent: number
}

/** The layout for events from other formats. */
export const DEFAULT_LAYOUT: HeapmonLayout = { headerRow: false, separator: 'tab', indent: 0 }

/** The header of a file with this layout. Times are always microseconds. */
export function headerOf(layout: HeapmonLayout): TraceHeader {
  return { format: NAME, timeUnit: 'us', layout: { ...layout } }
}

/** The layout in a header; the default one unless the header is of this format. */
export function layoutOf({ format, layout }: TraceHeader): HeapmonLayout {
  if (format !== NAME || layout === undefined) return DEFAULT_LAYOUT
  const { headerRow, separator, indent } = layout
  return {
    headerRow: headerRow === true,
    separator: separator === 'spaces' ? 'spaces' : 'tab',
    indent: typeof indent === 'number' && Number.isInteger(indent) && indent >= 0 && indent <= MAX_INDENT ? indent : 0,
  }
}

const WHO_AND_WHAT = ['process', 'thread', 'address', 'function', 'type', 'stack'] as const

/** The fields that each sort of line can represent. `function` becomes a stack of one frame, which is counted. */
export const CARRIED: Carried = {
  alloc: fieldSet(...WHO_AND_WHAT, 'api', 'time', 'size'),
  existing: fieldSet(...WHO_AND_WHAT, 'size'),
  realloc: fieldSet(...WHO_AND_WHAT, 'api', 'time', 'oldAddress', 'size', 'outcome'),
  free: fieldSet(...WHO_AND_WHAT, 'api', 'time'),
}

/** The fields that a line cannot omit, besides those that the encoder itself counts. */
export const FILLED: readonly Filling[] = [
  { field: 'api', kinds: ['alloc'], as: 'new' },
  { field: 'api', kinds: ['free'], as: 'delete' },
]
