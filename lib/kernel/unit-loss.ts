import { KINDS, FieldBit } from '../event/fields.js'
import type { EventBatch } from '../event/batch.js'
import type { TimeUnit, TraceHeader } from '../event/header.js'
import type { Carried } from '../event/losses.js'

const TIMES = FieldBit.time | FieldBit.endTime
const NAMES = { ns: 'nanoseconds', us: 'microseconds' } as const
const UNIT_LOST = 'the unit of times'

/** Finds the times whose unit readers will not know, or will take for one that the trace does not state. */
export class UnitLoss {
  /** By kind, the times that the format carries. */
  private readonly times: Int32Array
  /** The trace whose loss was told. */
  private told: TraceHeader | undefined
  /** The losses in the last batch: the number of events, and the first one. */
  reason = UNIT_LOST
  count = 0
  first = -1

  /** @param unit the unit of all times of the format, or null if it cannot state one */
  constructor(
    private readonly unit: TimeUnit | null,
    carried: Carried,
  ) {
    this.times = Int32Array.from(KINDS, (kind) => (carried[kind] ?? 0) & TIMES)
  }

  /** The loss, in the words of an error. */
  get fault(): string {
    return this.unit === null ? `cannot represent ${UNIT_LOST}` : this.reason
  }

  /** Looks for such times in a batch. @returns whether there are any */
  find(batch: EventBatch): boolean {
    const { unit } = this
    const { header, columns } = batch
    this.count = 0
    this.first = -1
    const isLost = unit === null ? header.timeUnit !== undefined : header.timeUnit === undefined
    if (!isLost || (columns & TIMES) === 0 || header === this.told) return false
    if (unit === null) this.findFirst(batch)
    else this.countAll(batch, unit)
    return this.count > 0
  }

  /** The loss of the unit is one of the trace. */
  private findFirst(batch: EventBatch): void {
    const first = this.nextTime(batch, 0)
    if (first === batch.count) return
    this.reason = UNIT_LOST
    this.count = 1
    this.first = first
    this.told = batch.header
  }

  private countAll(batch: EventBatch, unit: TimeUnit): void {
    this.reason = `times without a unit, taken for ${NAMES[unit]}`
    for (let i = this.nextTime(batch, 0); i < batch.count; i = this.nextTime(batch, i + 1)) {
      if (this.count++ === 0) this.first = i
    }
  }

  /** The first event from i on with a time that is written. */
  private nextTime({ mask, kind, count }: EventBatch, i: number): number {
    const { times } = this
    while (i < count && (mask[i] & times[kind[i]]) === 0) i++
    return i
  }
}
