import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { minus } from './amounts.js'
import type { MpatrolStatistics } from './result.js'
import { Sum } from './sums.js'

const { size: HAS_SIZE, type: HAS_TYPE } = FieldBit

/** Memory that the allocator took from the system, for the program or for itself. */
export class Reserves {
  private reservations = 0
  private readonly reserved = new Sum()
  private internals = 0
  private readonly internal = new Sum()

  /** Whether the sums are exact: see `Sum`. */
  get isExact(): boolean {
    return this.reserved.isExact && this.internal.isExact
  }

  /** Counts event i of a batch, which reserves memory. */
  take(batch: EventBatch, i: number): void {
    const mask = batch.mask[i]
    const isSized = (mask & HAS_SIZE) !== 0
    const lo = isSized ? batch.size.words[2 * i + LO] : 0
    const hi = isSized ? batch.size.words[2 * i + HI] : 0
    if ((mask & HAS_TYPE) !== 0 && batch.strings.text(batch.type[i]) === 'internal') {
      this.internals++
      this.internal.add(lo, hi)
    } else {
      this.reservations++
      this.reserved.add(lo, hi)
    }
  }

  /** The memory taken for the program, and for the allocator itself. */
  result(): Pick<MpatrolStatistics, 'reserved' | 'internal'> {
    return {
      reserved: { blocks: this.reservations, bytes: this.reserved.value },
      internal: { blocks: this.internals, bytes: this.internal.value },
    }
  }
}

/** mpatrol's figures, from the counted ones. */
export function mpatrolFigures(
  {
    allocated,
    freed,
    peak,
    smallest,
    largest,
  }: Pick<MpatrolStatistics, 'allocated' | 'freed' | 'peak' | 'smallest' | 'largest'>,
  reserves: Reserves,
): MpatrolStatistics {
  return { allocated, freed, unfreed: minus(allocated, freed), peak, ...reserves.result(), smallest, largest }
}
