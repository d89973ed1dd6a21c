import { fieldSet } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Carried } from '../../event/losses.js'
import { MAX_LINE } from '../../kernel/layouts/valgrind.js'
import { info } from './info.js'

export { MAX_LINE }

/** The format's name in folders, commands, headers and messages. */
export const NAME = info.name

/** The header of every log. Only logs made with --time-stamp=yes have times. */
export const HEADER: TraceHeader = { format: NAME, timeUnit: 'ns' }

/** The most events of a line: its calls have 8 bytes or more, `_Znwm(1)`, and one call may be of an earlier line. */
export const MAX_CALLS = MAX_LINE / 8 + 1

const COMMON = ['api', 'process', 'time', 'fields'] as const
const SIZES = ['size', 'count', 'elementSize', 'alignment'] as const

/** The fields of each kind. */
export const CARRIED: Carried = {
  alloc: fieldSet(...COMMON, 'address', ...SIZES),
  realloc: fieldSet(...COMMON, 'address', ...SIZES, 'oldAddress'),
  free: fieldSet(...COMMON, 'address'),
  // A block of posix_memalign or aligned_alloc whose address the log does not show.
  lost: fieldSet(...COMMON, 'size', 'count', 'alignment'),
}
