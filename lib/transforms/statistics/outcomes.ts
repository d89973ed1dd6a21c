import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit, Kind, Outcome } from '../../event/fields.js'
import { BlockEffect } from '../../blocks/block-effect.js'
import type { FaultCounts, ReallocCounts } from './result.js'

const { began: BEGAN, ended: ENDED, unknown: UNKNOWN, again: AGAIN, nothing: NOTHING, failed: FAILED } = BlockEffect
const HAS_OUTCOME = FieldBit.outcome
const HAS_BOTH = FieldBit.address | FieldBit.oldAddress
const { free: FREE } = Kind
const { none: STAYED, moved: MOVED } = Outcome

/** The outcomes of reallocs, and faults of traces. */
export class Outcomes {
  readonly reallocs: ReallocCounts = {
    inPlace: 0,
    moved: 0,
    resized: 0,
    allocated: 0,
    freed: 0,
    failed: 0,
    nothing: 0,
    unknown: 0,
  }
  /** Faults other than overlaps. */
  readonly faults: Omit<FaultCounts, 'overlaps'> = {
    unknownFrees: 0,
    doubleFrees: 0,
    nullFrees: 0,
    failedAllocations: 0,
  }

  /** Counts a realloc by its effect on the live set. */
  realloc(batch: EventBatch, i: number, effect: number): void {
    const { reallocs } = this
    if ((effect & UNKNOWN) !== 0) reallocs.unknown++
    else if (effect === FAILED) reallocs.failed++
    else if (effect === NOTHING) reallocs.nothing++
    else if ((effect & ENDED) === 0) reallocs.allocated++
    else if ((effect & BEGAN) === 0) reallocs.freed++
    else this.resize(batch, i)
  }

  /** Counts an allocation or free without effect. */
  failure(kind: number, effect: number): void {
    const { faults } = this
    if (kind !== FREE) faults.failedAllocations++
    else if (effect === NOTHING) faults.nullFrees++
    else if ((effect & AGAIN) !== 0) faults.doubleFrees++
    else faults.unknownFrees++
  }

  private resize(batch: EventBatch, i: number): void {
    const { reallocs } = this
    const mask = batch.mask[i]
    const outcome = (mask & HAS_OUTCOME) !== 0 ? batch.outcome[i] : -1
    if (outcome === STAYED) {
      reallocs.inPlace++
    } else if (outcome === MOVED) {
      reallocs.moved++
    } else if ((mask & HAS_BOTH) === HAS_BOTH) {
      const to = batch.address.words
      const from = batch.oldAddress.words
      if (to[2 * i + LO] === from[2 * i + LO] && to[2 * i + HI] === from[2 * i + HI]) reallocs.inPlace++
      else reallocs.moved++
    } else {
      reallocs.resized++
    }
  }
}
