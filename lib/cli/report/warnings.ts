import { EARLY_END_NOTE } from '../../event/early-end.js'
import { UNIDENTIFIED } from '../../event/header.js'
import { lostWarning } from '../../event/lost-events.js'
import { weightNote } from '../../event/weights.js'
import type { Amount, Statistics } from '../../transforms/statistics/result.js'
import { MAX_SIZE } from '../../transforms/verify.js'
import { bytes } from './columns.js'

/** Warnings about causes of uncertain or wrong figures of statistics. */
export function statisticsWarnings(statistics: Statistics): string[] {
  return [...(statistics.identified ? [] : [UNIDENTIFIED]), ...totalsWarnings(statistics)]
}

/** The same for what was allocated, freed and live in all. */
export function totalsWarnings(statistics: Statistics): string[] {
  const { weighted } = statistics
  const warnings = [
    leakWarning(statistics),
    statistics.endsEarly === true && statistics.leaked.blocks > 0 ? EARLY_END_NOTE : undefined,
    weighted === undefined ? undefined : weightNote(weighted),
    sizeWarning(statistics.sizes.largest),
  ]
  return warnings.filter((warning) => warning !== undefined)
}

/**
 * A complete trace has hardly any frees and reallocs of unknown blocks. The warning needs this share of all frees, and
 * at least this number.
 */
const MANY_PER_FREES = 0.01
const MANY = 10

/** The figures on which the warning depends. */
interface LeakFigures {
  /** The number of events that say that the recorder lost others. */
  readonly lost: number
  /** The number of events that it lost, if known. */
  readonly lostEvents?: number | undefined
  /** Whether events were removed from the trace. */
  readonly filtered: boolean
  readonly leaked: Amount
  readonly freed: Amount
  /** The number of frees and reallocs that are of unknown blocks. */
  readonly unknown: number
}

/** The warning of `falseLeaks` for these statistics. */
export function leakWarning(statistics: Statistics): string | undefined {
  const { kinds, lostEvents, filtered, leaked, freed, faults, reallocs } = statistics
  const unknown = faults.unknownFrees + faults.doubleFrees + reallocs.unknown
  return falseLeaks({ lost: kinds.lost ?? 0, lostEvents, filtered, leaked, freed, unknown })
}

/**
 * A warning that leaks may be false, because the trace lacks events: the recorder lost some, its header says that some
 * were removed, or more frees and reallocs are of unknown blocks than in a complete trace. Undefined without a reason
 * for one.
 */
export function falseLeaks({ lost, lostEvents, filtered, leaked, freed, unknown }: LeakFigures): string | undefined {
  if (lost > 0) return lostWarning(lost, undefined, lostEvents)
  const advice = 'use --lifetimes with hf-filter and hf-split'
  if (filtered) {
    if (leaked.blocks === 0 && unknown === 0) return undefined
    const figures = `leaks (${leaked.blocks}) and frees and reallocs of unknown blocks (${unknown})`
    return `events were removed: ${figures} may be false; ${advice}`
  }
  if (leaked.blocks === 0 || unknown < MANY || unknown < MANY_PER_FREES * (freed.blocks + unknown)) return undefined
  return (
    `${unknown} frees and reallocs are of unknown blocks, so leaks may be false; ` +
    `if the trace was filtered or split, ${advice}`
  )
}

/** A warning that sums of bytes are false, because an allocation is larger than any address space. */
export function sizeWarning(largest: bigint): string | undefined {
  if (largest <= MAX_SIZE) return undefined
  return (
    `an allocation has ${bytes(largest)}, more than any address space, so sums of bytes may be false; ` +
    'hf-verify finds such allocations, and its --repair drops them'
  )
}
