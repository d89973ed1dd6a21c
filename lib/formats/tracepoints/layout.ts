import { fieldSet } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Carried } from '../../event/losses.js'
import { info } from './info.js'

export { MAX_LINE } from '../../kernel/layouts/tracepoints.js'

/** The format's name in folders, commands, headers and messages. */
export const NAME = info.name

/** The header of a trace whose times are seconds, which are read as nanoseconds. */
export const HEADER: TraceHeader = { format: NAME, timeUnit: 'ns' }
/** The header of a trace whose clock counts something else. */
export const HEADER_OF_TICKS: TraceHeader = { format: NAME }

export const DEFAULT_PAGE_SIZE = 4096

const COMMON = ['api', 'thread', 'cpu', 'time', 'address', 'size', 'callSite', 'function', 'type', 'stack'] as const

/** The fields of each kind. */
export const CARRIED: Carried = {
  alloc: fieldSet(...COMMON, 'count', 'usable', 'gfpFlags', 'node', 'fields', 'module'),
  free: fieldSet(...COMMON, 'fields', 'module'),
  lost: fieldSet('cpu', 'count'),
}
