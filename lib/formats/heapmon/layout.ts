import { ascii } from '../../bytes/ascii.js'
import { fieldSet } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Carried } from '../../kernel/losses.js'
import { traits } from './traits.js'

/** The format's name in folders, commands, headers and messages. */
export const NAME = traits.name

/** Longer lines are refused: stack crawls of C++ programs run to some kilobytes. */
export const MAX_LINE = 1 << 20
/** The longest type that is written. */
export const MAX_TYPE = 1 << 16
/**
 * The longest stack crawl that is written, so that a line with the longest type before it is not too long to be read.
 */
export const MAX_CRAWL = MAX_LINE - MAX_TYPE - 1024

/** `|`, which stands between the functions of a stack crawl. */
export const BAR = 0x7c

/** The time of a block that was on the heap when monitoring began. */
export const OLD = ascii('old')
/** The size of a deletion. */
export const DEL = ascii('del')
/** The type of a block without a v-table pointer: the format's word for no type. */
export const NOVTBL = ascii('novtbl')
/** The type of a block whose v-table pointer leads nowhere. */
export const NOTYPE = ascii('notype')

/** The column titles. */
export const TITLES = ['Thread', 'Time of event', 'Address', 'Size', 'Type', 'Stack crawl'] as const
/** How wide the columns before the last are where blanks separate them. */
export const WIDTHS = [12, 20, 12, 8, 16] as const
/** Lines that are indented by more blanks are read, but not written again like that. */
export const MAX_INDENT = 64

/** How the lines of a file look: what its header's `layout` holds. */
export interface HeapmonLayout {
  /** Whether the first line has the titles of the columns. */
  readonly titles: boolean
  /** What stands between two columns: a tab, or blanks up to where the next column begins. */
  readonly separator: 'tab' | 'blanks'
  /** How many blanks each line begins with. */
  readonly indent: number
}

/** What events of other formats are written with. */
export const DEFAULT_LAYOUT: HeapmonLayout = { titles: false, separator: 'tab', indent: 0 }

/** The header of a file whose lines look like this. Times are always microseconds. */
export function headerOf(layout: HeapmonLayout): TraceHeader {
  return { format: NAME, timeUnit: 'us', layout: { ...layout } }
}

/** The layout that a header asks for: the default one, unless it is a header of this format. */
export function layoutOf({ format, layout }: TraceHeader): HeapmonLayout {
  if (format !== NAME || layout === undefined) return DEFAULT_LAYOUT
  const { titles, separator, indent } = layout
  return {
    titles: titles === true,
    separator: separator === 'blanks' ? 'blanks' : 'tab',
    indent: typeof indent === 'number' && Number.isInteger(indent) && indent >= 0 && indent <= MAX_INDENT ? indent : 0,
  }
}

const WHO_AND_WHAT = ['process', 'thread', 'address', 'function', 'type', 'stack'] as const

/** What each sort of line has a place for. `function` becomes a stack of one frame, which is counted. */
export const CARRIED: Carried = {
  alloc: fieldSet(...WHO_AND_WHAT, 'api', 'time', 'size'),
  existing: fieldSet(...WHO_AND_WHAT, 'size'),
  realloc: fieldSet(...WHO_AND_WHAT, 'api', 'time', 'oldAddress', 'size', 'outcome'),
  free: fieldSet(...WHO_AND_WHAT, 'api', 'time'),
}
