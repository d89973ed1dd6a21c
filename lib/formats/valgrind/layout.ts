import { fieldSet } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Carried } from '../../event/losses.js'
import { info } from './info.js'

export { MAX_LINE } from '../../kernel/layouts/valgrind.js'

/** The format's name in folders, commands, headers and messages. */
export const NAME = info.name

/** The header of every log. Only logs made with --time-stamp=yes have times. */
export const HEADER: TraceHeader = { format: NAME, timeUnit: 'ns' }

/** No line has more calls than this. */
export const MAX_CALLS = 400

const COMMON = ['api', 'process', 'time', 'address', 'fields'] as const
const SIZES = ['size', 'count', 'elementSize', 'alignment'] as const

/** The fields of each kind. */
export const CARRIED: Carried = {
  alloc: fieldSet(...COMMON, ...SIZES),
  realloc: fieldSet(...COMMON, ...SIZES, 'oldAddress'),
  free: fieldSet(...COMMON),
  // A block of posix_memalign or aligned_alloc whose address the log does not show.
  lost: fieldSet('api', 'process', 'time', 'fields', 'size', 'count', 'alignment'),
}
