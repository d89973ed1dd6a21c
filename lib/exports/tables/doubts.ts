import { Doubts } from '../../event/doubts.js'
import { EARLY_END_NOTE } from '../../event/early-end.js'

/**
 * Warnings about causes of wrong rows of blocks: events that the recorder lost, events that were removed, and a
 * recording that ended before its program. Takes all batches of the trace.
 */
export class BlockDoubts extends Doubts {
  /**
   * @param rows what may be wrong, in plural
   * @param hasBlocks whether there are rows of blocks: rows of events are right if events were removed
   */
  warnings(rows: string, hasBlocks = true): string[] {
    const consequence = `${rows} may be missing or wrong`
    const warnings = this.lost.warnings(consequence)
    if (hasBlocks && this.isFiltered)
      warnings.push(
        `events were removed from the trace, so ${consequence}; use --lifetimes with hf-filter and hf-split`,
      )
    if (hasBlocks && this.endsEarly) warnings.push(EARLY_END_NOTE)
    return warnings
  }
}
