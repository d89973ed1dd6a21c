import { fieldSet } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Carried, Filling } from '../../event/losses.js'
import { info } from './info.js'

export { MAX_LINE } from '../../kernel/layouts/replay.js'

/** The format's name in folders, commands, headers and messages. */
export const NAME = info.name

/** The header of every memory_replay dump: the text has none of its own, and its times are always nanoseconds. */
export const REPLAY_HEADER: TraceHeader = { format: NAME, timeUnit: 'ns' }

const COMMON = ['api', 'thread', 'time', 'endTime', 'address'] as const

/** The fields that each action can represent. For an allocation it depends on the action: see `FORM_FIELDS`. */
export const CARRIED: Carried = {
  alloc: fieldSet(...COMMON, 'size', 'count', 'elementSize', 'alignment'),
  existing: fieldSet(...COMMON, 'size'),
  realloc: fieldSet(...COMMON, 'oldAddress', 'size', 'outcome', 'present'),
  free: fieldSet(...COMMON, 'present'),
  'thread-destroy': fieldSet('thread', 'time', 'endTime', 'address'),
}

/** The fields that a line cannot omit. The function of a free and of a realloc follows from the kind of event. */
export const FILLED: readonly Filling[] = [
  { field: 'thread', kinds: ['alloc', 'existing', 'realloc', 'free', 'thread-destroy'], as: '0' },
  { field: 'api', kinds: ['alloc'], as: 'malloc, calloc or memalign' },
]

/** The fields that each of the three actions for an allocation can represent. */
export const FORM_FIELDS = {
  malloc: fieldSet(...COMMON, 'size'),
  calloc: fieldSet(...COMMON, 'size', 'count', 'elementSize'),
  memalign: fieldSet(...COMMON, 'size', 'alignment'),
} as const
