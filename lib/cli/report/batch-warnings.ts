import type { EventBatch } from '../../event/batch.js'
import { earlyEnd, EARLY_END_NOTE } from '../../event/early-end.js'
import { lacksEvents } from '../../event/header.js'
import { LostCount } from '../../event/lost-events.js'
import { weightedEvents, weightNote } from '../../event/weights.js'
import type { Figures } from '../../transforms/statistics/kernel-totals.js'
import { falseLeaks, sizeWarning } from './warnings.js'

/** Warnings about causes of uncertain or wrong figures of mpatrol's statistics. Takes all batches of the trace. */
export class BatchWarnings {
  private readonly lost = new LostCount()
  private isFiltered = false
  private endsEarly = false
  private weighted = 0

  add(batch: EventBatch): void {
    this.lost.add(batch)
    this.isFiltered ||= lacksEvents(batch.header)
    this.endsEarly ||= earlyEnd(batch, 0, batch.count) >= 0
    if (batch.groups !== undefined) this.weighted += weightedEvents(batch.groups, 0, batch.count)
  }

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
