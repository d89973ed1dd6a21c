import { plural } from '../../event/message-text.js'
import type { Statistics } from '../../transforms/statistics/result.js'

/**
 * A complete trace has hardly any frees of unknown blocks. The warning needs this share of all frees, and at least this
 * number.
 */
const MANY_PER_FREES = 0.01
const MANY = 10

/**
 * A warning that leaks may be false, because the trace lacks events: the recorder lost some, its header says that some
 * were removed, or more frees are of unknown blocks than in a complete trace. Undefined without a reason for one.
 */
export function leakWarning({ kinds, filtered, leaked, freed, faults, reallocs }: Statistics): string | undefined {
  if ((kinds.lost ?? 0) > 0)
    return `the recorder lost events in ${plural(kinds.lost ?? 0, 'place')}, so every figure may be wrong`
  const unknown = faults.unknownFrees + faults.doubleFrees + reallocs.unknown
  const advice = 'use --lifetimes with hf-filter and hf-split'
  if (filtered) {
    if (leaked.blocks === 0 && unknown === 0) return undefined
    return `events were removed: leaks (${leaked.blocks}) and frees of unknown blocks (${unknown}) may be false; ${advice}`
  }
  if (leaked.blocks === 0 || unknown < MANY || unknown < MANY_PER_FREES * (freed.blocks + unknown)) return undefined
  return `${unknown} frees are of unknown blocks, so leaks may be false; if the trace was filtered or split, ${advice}`
}
