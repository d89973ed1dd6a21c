import { fieldSet } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Carried } from '../../event/losses.js'
import { info } from './info.js'

export { MAX_LINE } from '../../kernel/layouts/ltrace.js'

/** The format's name in folders, commands, headers and messages. */
export const NAME = info.name

/**
 * The header of every log. Times of day (-t, -tt) count from midnight, and others from the first line (-r) or 1970
 * (-ttt).
 */
export const HEADER: TraceHeader = { format: NAME, timeUnit: 'ns' }

const COMMON = ['api', 'process', 'thread', 'time', 'endTime', 'callSite', 'fields', 'module'] as const
const SIZES = ['size', 'count', 'elementSize', 'alignment'] as const

/** The fields of each kind. */
export const CARRIED: Carried = {
  alloc: fieldSet(...COMMON, 'address', ...SIZES),
  realloc: fieldSet(...COMMON, 'address', ...SIZES, 'oldAddress'),
  free: fieldSet(...COMMON, 'address'),
  // A block of posix_memalign whose address the log does not show.
  lost: fieldSet(...COMMON, 'size', 'count', 'alignment'),
}
