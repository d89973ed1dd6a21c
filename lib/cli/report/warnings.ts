import { Doubts } from '../../event/doubts.js'
import { EARLY_END_NOTE } from '../../event/early-end.js'
import { UNIDENTIFIED } from '../../event/header.js'
import { lostWarning } from '../../event/lost-events.js'
import { weightNote } from '../../event/weights.js'
import { plus } from '../../transforms/statistics/amounts.js'
import type { Figures } from '../../transforms/statistics/kernel-totals.js'
import type { Amount, Statistics } from '../../transforms/statistics/result.js'
import { MAX_SIZE } from '../../transforms/option-values.js'
import { bytes } from './columns.js'

/** Warnings about causes of uncertain or wrong figures of statistics. */
export function statisticsWarnings(statistics: Statistics): string[] {
  return [...(statistics.identified ? [] : [UNIDENTIFIED]), ...totalsWarnings(statistics)]
}

/** The same for what was allocated, freed and live in all. */
export function totalsWarnings(statistics: Statistics): string[] {
  const { kinds, lostEvents, faults, reallocs, sizes, endsEarly = false, weighted = 0 } = statistics
  const unknown = faults.unknownFrees + faults.doubleFrees + reallocs.unknown
  const { largest } = sizes
  return figuresWarnings({ ...statistics, lost: kinds.lost ?? 0, lostEvents, unknown, endsEarly, weighted, largest })
}

/** The same for mpatrol's statistics. Takes all batches of the trace. */
export class BatchWarnings extends Doubts {
  /** @param unknown the number of frees and reallocs of unknown blocks */
  result({ live, unfreed, freed, largest }: Figures, unknown: number): string[] {
    const { lost, isFiltered: filtered, endsEarly, weighted } = this
    const leaked = plus(live, unfreed)
    const figures = { lost: lost.places, lostEvents: lost.events, filtered, leaked, freed, unknown }
    return figuresWarnings({ ...figures, endsEarly, weighted, largest })
  }
}

function figuresWarnings(figures: DoubtfulFigures): string[] {
  const { leaked, endsEarly, weighted, largest } = figures
  const warnings = [
    falseLeaks(figures),
    endsEarly && leaked.blocks > 0 ? EARLY_END_NOTE : undefined,
    weighted === 0 ? undefined : weightNote(weighted),
    sizeWarning(largest),
  ]
  return warnings.filter((warning) => warning !== undefined)
}

/**
 * A complete trace has hardly any frees and reallocs of unknown blocks. The warning needs this share of all frees, and
 * at least this number.
 */
const MANY_PER_FREES = 0.01
const MANY = 10

/** The figures on which the warnings depend. */
interface DoubtfulFigures {
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
  /** Whether the recording ended before the program. */
  readonly endsEarly: boolean
  /** The number of events that stand for several. */
  readonly weighted: number
  /** The largest size of an allocation. */
  readonly largest: bigint
}

/**
 * A warning that leaks may be false, because the trace lacks events: the recorder lost some, its header says that some
 * were removed, or more frees and reallocs are of unknown blocks than in a complete trace. Undefined without a reason
 * for one.
 */
function falseLeaks({ lost, lostEvents, filtered, leaked, freed, unknown }: DoubtfulFigures): string | undefined {
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
