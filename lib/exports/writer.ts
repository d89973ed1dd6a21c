import { plural } from '../event/message-text.js'
import { EARLY_END_NOTE } from '../event/early-end.js'
import { TEMPORARY_BY } from '../transforms/option-values.js'
import type { Profile } from '../transforms/profile/profile.js'
import type { ProfileValue } from '../transforms/profile/values.js'

/** Nanoseconds in a unit of time. */
export const NANOSECONDS = { ns: 1n, us: 1000n } as const

/** Options of a profile writer. */
export interface ExportOptions {
  /** The figure to write if the format holds only one, and to show first if it holds several. */
  readonly value?: ProfileValue
  /** The subject of the profile, such as the name of the trace. */
  readonly name?: string
  /**
   * Whether collapsed stacks and speedscope keep lines of one function apart; otherwise each function of a file is one
   * frame. Other formats have the lines in any case. Default false.
   */
  readonly lines?: boolean
}

/** Writes a profile for another tool: its bytes in pieces, made as they are requested. */
export type ProfileWriter = (profile: Profile, options?: ExportOptions) => Iterable<Uint8Array>

/** Notes for readers of a profile, as sentences. */
export function notesOf({ statistics, at, temporaryBy }: Profile): string[] {
  const { complete, filtered, endsEarly = false, full, traces, peakBytes, events, formats } = statistics
  const moment =
    typeof at === 'string'
      ? at === 'end'
        ? 'at the end'
        : 'at the peak'
      : 'event' in at
        ? `after event ${at.event}`
        : `at time ${at.time}`
  return [
    `${plural(events, 'event')} (${formats.join(', ')})${traces > 1 ? ` of ${traces} traces` : ''}`,
    `Peak: ${plural(peakBytes.bytes, 'byte')} in ${plural(peakBytes.blocks, 'block')}, at event ${peakBytes.event}`,
    `Live figures are those ${moment}.`,
    ...(temporaryBy === TEMPORARY_BY ? [] : [`Temporary allocations are by ${temporaryBy}'s definition.`]),
    ...(complete ? [] : ['The trace is incomplete: it was truncated.']),
    ...(endsEarly ? [`T${EARLY_END_NOTE.slice(1)}.`] : []),
    ...(filtered ? ['Events were left out of the trace: blocks that look live may not be.'] : []),
    ...(full.includes('sites') ? ['There are more stacks than are distinguished: the later ones are [others].'] : []),
  ]
}
