import { fieldSet } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Carried } from '../../event/losses.js'
import { info } from './info.js'

export { MAX_LINE } from '../../kernel/layouts/glibc-mtrace.js'

/** The format's name in folders, commands, headers and messages. */
export const NAME = info.name

/** The line that traces begin with. */
export const START = '= Start'

/** The header of a trace that begins with that line, as all traces by glibc do. */
export const HEADER: TraceHeader = { format: NAME }
/** The header of a trace without that line. */
export const HEADER_WITHOUT_START: TraceHeader = { format: NAME, layout: { start: false } }

/** The maximum length of names that are written. */
export const MAX_NAME = 8192

/** The fields with the origin of a call. */
export const PLACE = fieldSet('module', 'function', 'callSite', 'fields')

export const CARRIED: Carried = {
  alloc: fieldSet('address', 'size') | PLACE,
  existing: fieldSet('address', 'size') | PLACE,
  realloc: fieldSet('address', 'oldAddress', 'size', 'outcome') | PLACE,
  free: fieldSet('address') | PLACE,
  comment: fieldSet('text'),
}
