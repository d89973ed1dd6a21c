import { KERNEL_EVENTS, loadKernel, type Global, type KernelExports } from './load.js'
import type { EventBatch } from '../event/batch.js'
import { unencodable, type TracePosition } from '../event/error.js'
import { ALL_FIELDS, FIELDS, KINDS, fieldNames, type FieldName, type KindName } from '../event/fields.js'
import type { Carried, LossCounts } from '../event/losses.js'

/** kernel/losses.ts, which says what each of these is. */
interface LossesKernel extends KernelExports {
  count(from: number, to: number, stops: boolean): number
  empty(): void
  readonly taken: Global
  readonly MASK: Global
  readonly KIND: Global
  readonly WITHOUT: Global
  readonly LOST: Global
  readonly EVENTS: Global
}

const FIELD_BITS = 2 ** FIELDS.length
/** Among the fields that a kind has no place for: it has no place itself. No field has this bit. */
const LEFT_OUT = 1 << 31
const PLACES = 64

/** The kernel, and what of its memory is written and read. */
class LossesMemory {
  readonly run = loadKernel<LossesKernel>('losses')
  readonly mask = this.words(this.run.MASK, KERNEL_EVENTS)
  readonly kind = new Uint8Array(this.run.memory.buffer, this.run.KIND.value, KERNEL_EVENTS)
  readonly without = this.words(this.run.WITHOUT, KINDS.length)
  readonly lost = this.words(this.run.LOST, 2 * PLACES)
  readonly events = this.words(this.run.EVENTS, PLACES)

  private words({ value }: Global, n: number): Uint32Array {
    return new Uint32Array(this.run.memory.buffer, value, n)
  }
}

/** The one instance: it keeps nothing from call to call. */
let memory: LossesMemory | undefined

/**
 * Counts what an encoder leaves out, so that nothing is lost in silence: every encoder passes each batch through
 * `admit` before writing it.
 */
export class Losses implements LossCounts {
  /** By kind, the fields that the format has no place for, or `LEFT_OUT` alone. */
  private readonly without = new Int32Array(KINDS.length)
  /** Events per combination of kind and lost fields. */
  private readonly tally = new Map<number, number>()
  private readonly reasons = new Map<string, number>()
  private events = 0
  /** How many events came before the batch that was admitted last. */
  private before = 0
  /** The fields that the format had a place for on some kind of event. */
  private anywhere = 0
  /** The same now, for batches that come. */
  private somewhere = 0
  /** The fields that some kind of event has no place for, with `LEFT_OUT` if some kind has none itself. */
  private missing = 0

  /**
   * @param format the target format's name, for messages
   * @param carried what the format has a place for
   * @param strict makes the first loss an error
   */
  constructor(
    private readonly format: string,
    carried: Carried,
    private readonly strict = false,
  ) {
    this.use(carried)
  }

  /** Changes what the format has a place for, from the next batch on: another version of the format begins. */
  use(carried: Carried): void {
    KINDS.forEach(
      (kind, code) => (this.without[code] = carried[kind] === undefined ? LEFT_OUT : ALL_FIELDS & ~carried[kind]),
    )
    this.somewhere = Object.values(carried).reduce((all, fields) => all | fields, 0)
    this.missing = this.without.reduce((all, fields) => all | fields)
  }

  /**
   * Counts what of a batch has no place in the format.
   * @returns how many of the batch's events, from the first, are to be written: all, unless in strict mode one loses
   *   something
   */
  admit(batch: EventBatch): number {
    const { count } = batch
    this.before = this.events
    this.anywhere |= this.somewhere
    const kept = ((batch.columns | LEFT_OUT) & this.missing) === 0 ? count : this.tallyAll(batch)
    if (kept === count) this.events += count
    return kept
  }

  private tallyAll(batch: EventBatch): number {
    const { strict } = this
    memory ??= new LossesMemory()
    const { run } = memory
    memory.without.set(this.without)
    for (let from = 0; from < batch.count; from += KERNEL_EVENTS) {
      const rows = Math.min(batch.count - from, KERNEL_EVENTS)
      memory.mask.set(batch.mask.subarray(from, from + rows))
      memory.kind.set(batch.kind.subarray(from, from + rows))
      for (let row = 0; ;) {
        row = run.count(row, rows, strict)
        if (strict && row < rows) return from + row
        if (run.taken.value > 0) this.add(memory)
        if (row === rows) break
      }
    }
    return batch.count
  }

  /** Adds what the kernel counted. */
  private add({ run, lost, events }: LossesMemory): void {
    for (let place = 0; place < PLACES; place++) {
      if (events[place] === 0) continue
      const fields = lost[2 * place] as number
      const key = (lost[2 * place + 1] as number) * FIELD_BITS + (fields & ALL_FIELDS)
      this.tally.set(key, (this.tally.get(key) ?? 0) + (events[place] as number))
    }
    run.empty()
  }

  /**
   * Counts event i of the batch admitted last: it had to be left out, or was changed, for a reason that only its value
   * shows.
   */
  note(reason: string, _batch: EventBatch, i: number): void {
    if (this.strict) throw unencodable(reason, this.position(i))
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1)
  }

  /** The place of event i of the batch admitted last. */
  protected position(i: number): TracePosition {
    return { format: this.format, event: this.before + i + 1 }
  }

  /** The error for the event at which `admit` stopped. */
  refusal(batch: EventBatch, i: number): Error {
    const code = batch.kind[i] as number
    const without = this.without[code] as number
    const fields = fieldNames((batch.mask[i] as number) & without)
    const what = without === LEFT_OUT ? `${KINDS[code]} events` : `${fields.join(', ')} of ${KINDS[code]} events`
    return unencodable(`cannot represent ${what}`, { format: this.format, event: this.events + i + 1 })
  }

  get counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    const add = (name: string, n: number) => counts.set(name, (counts.get(name) ?? 0) + n)
    const known = new Set<FieldName>(fieldNames(this.anywhere))
    for (const [key, n] of [...this.tally].toSorted(([a], [b]) => a - b)) {
      const kind = KINDS[Math.floor(key / FIELD_BITS)] as KindName
      const lost = key % FIELD_BITS
      // An event that is written loses some field, so no field at all stands for a kind that is left out whole.
      if (lost === 0) add(`${kind} events`, n)
      else {
        for (const name of fieldNames(lost)) add(known.has(name) ? `${name} of ${kind}` : name, n)
      }
    }
    for (const [reason, n] of this.reasons) add(reason, n)
    return counts
  }
}
