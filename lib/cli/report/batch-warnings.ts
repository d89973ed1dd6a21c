import { Doubts } from '../../event/doubts.js'
import { EARLY_END_NOTE } from '../../event/early-end.js'
import { weightNote } from '../../event/weights.js'
import type { Figures } from '../../transforms/statistics/kernel-totals.js'
import { falseLeaks, sizeWarning } from './warnings.js'

/** Warnings about causes of uncertain or wrong figures of mpatrol's statistics. Takes all batches of the trace. */
export class BatchWarnings extends Doubts {
  /** @param unknown the number of frees and reallocs of unknown blocks */
  result({ live, unfreed, freed, largest }: Figures, unknown: number): string[] {
    const { lost, isFiltered: filtered, weighted } = this
    const leaked = { blocks: live.blocks + unfreed.blocks, bytes: live.bytes + unfreed.bytes }
    const warnings = [
      falseLeaks({ lost: lost.places, lostEvents: lost.events, filtered, leaked, freed, unknown }),
      this.endsEarly && leaked.blocks > 0 ? EARLY_END_NOTE : undefined,
      weighted === 0 ? undefined : weightNote(weighted),
      sizeWarning(largest),
    ]
    return warnings.filter((warning) => warning !== undefined)
  }
}
