import { KERNEL_EVENTS, loadKernel, type Global, type Globals, type KernelExports } from './load.js'
import { LEFT_OUT, PLACES } from './layouts/losses.js'
import type { EventBatch } from '../event/batch.js'
import { unencodable, type TracePosition } from '../event/error.js'
import * as Fields from '../event/fields.js'
import { hasInventedAddresses, type TimeUnit, type TraceHeader } from '../event/header.js'
import type { Carried, Filling, LossCounts } from '../event/losses.js'
import { UnitLoss } from './unit-loss.js'

/** The exports of kernel/losses.ts, which documents them. */
interface LossesKernel
  extends KernelExports, Globals<'taken' | 'MASK' | 'KIND' | 'WATCHED' | 'NEEDED' | 'LOST' | 'EVENTS'> {
  count(from: number, to: number, stops: boolean): number
  empty(): void
}

const FIELD_BITS = 2 ** Fields.FIELDS.length

const IDENTITY_LOST = 'that freed blocks are guessed'

/** The kernel, and the parts of its memory that are used. */
class LossesMemory {
  readonly run = loadKernel<LossesKernel>('losses')
  readonly mask = this.words(this.run.MASK, KERNEL_EVENTS)
  readonly kind = new Uint8Array(this.run.memory.buffer, this.run.KIND.value, KERNEL_EVENTS)
  readonly watched = this.words(this.run.WATCHED, Fields.KINDS.length)
  readonly needed = this.words(this.run.NEEDED, Fields.KINDS.length)
  readonly lost = this.words(this.run.LOST, 2 * PLACES)
  readonly events = this.words(this.run.EVENTS, PLACES)

  private words({ value }: Global, n: number): Uint32Array {
    return new Uint32Array(this.run.memory.buffer, value, n)
  }
}

/** The only instance, which keeps no state between calls. */
let memory: LossesMemory | undefined

/**
 * Counts what an encoder leaves out or fills in, so that nothing changes silently: every encoder passes each batch
 * through `countBatch` before writing it. An encoder that sees itself which events lose nothing passes each batch
 * through `beginBatch`, and those with other events through `countFields`, before it counts anything else of them.
 */
export class Losses implements LossCounts {
  /** By kind, the fields that the format cannot carry and those in `needed`, or `LEFT_OUT` alone. */
  private readonly watched = new Int32Array(Fields.KINDS.length)
  /** By kind, the fields that the format cannot leave out. */
  private readonly needed = new Int32Array(Fields.KINDS.length)
  /** The values written instead, for messages: by kind * 32 + the number of the field's bit. */
  private readonly fillings = new Map<number, string>()
  /** Events per combination of kind and lost fields. */
  private readonly tally = new Map<number, number>()
  private readonly reasons = new Map<string, number>()
  private events = 0
  /** The number of events before the last admitted batch. */
  private before = 0
  /** The fields that the format can represent on some kind of event. */
  private anywhere = 0
  /** The same for the batches that follow. */
  private somewhere = 0
  /** The fields that some kind of event cannot carry, with `LEFT_OUT` if the format has no record for some kind. */
  private missing = 0
  /** Some kind of event needs some field. */
  private needs = false
  /** The loss of the unit of times; undefined where the format states the unit of each trace. */
  private unitLoss: UnitLoss | undefined
  /** Whether what is written says from which format, and with which layout, the trace came. */
  keepsHeaders = false
  /** The last trace whose addresses are not the program's, which what is written does not say. */
  private unidentified: TraceHeader | undefined

  /**
   * @param format the target format's name, for messages
   * @param carried the fields that the format can represent
   * @param strict makes the first loss an error
   * @param filled the fields that the format always has, so that an event without them comes back with them
   * @param groups the set of fields of groups that it can represent
   */
  constructor(
    private readonly format: string,
    private carried: Carried,
    private readonly strict = false,
    filled: readonly Filling[] = [],
    private readonly groups = 0,
  ) {
    this.use(carried, filled)
  }

  /** The losses of a format that represents every field of these events, and whole headers. */
  static ofAll(format: string, carried: Carried, strict = false): Losses {
    const losses = new Losses(format, carried, strict, [], Fields.ALL_GROUP_FIELDS)
    losses.keepsHeaders = true
    return losses
  }

  /** No more batches follow. */
  dispose(): void {}

  /** Changes what the format can carry, from the next batch on: another version of the format begins. */
  use(carried: Carried, filled: readonly Filling[] = []): void {
    this.carried = carried
    this.needed.fill(0)
    for (const { field, kinds, as } of filled) {
      for (const kind of kinds) {
        this.fillings.set(fillingKey(Fields.Kind[kind], field), `no ${field}, written as ${as}`)
        this.needed[Fields.Kind[kind]] = this.needed[Fields.Kind[kind]] | Fields.FieldBit[field]
      }
    }
    Fields.KINDS.forEach((kind, code) => {
      const fields = carried[kind]
      this.watched[code] = fields === undefined ? LEFT_OUT : (Fields.ALL_FIELDS & ~fields) | this.needed[code]
    })
    this.somewhere = Object.values(carried).reduce((all, fields) => all | fields, 0)
    this.missing = this.watched.reduce((all, fields, code) => all | (fields & ~this.needed[code]), 0)
    this.needs = filled.length > 0
  }

  /**
   * Says, after `use`, that what is written does not state the unit of the trace: all times are in `unit`, or in an
   * unknown one if that is null. Undefined, as at first: the unit is kept.
   */
  useUnit(unit: TimeUnit | null | undefined): void {
    this.unitLoss = unit === undefined ? undefined : new UnitLoss(unit, this.carried)
  }

  /**
   * Counts the fields of a batch that the format cannot carry or omit.
   * @returns the number of events to write, from the first: all, except in strict mode up to the first loss
   */
  countBatch(batch: EventBatch): number {
    return Math.min(this.beginBatch(batch), this.countFields(batch))
  }

  /**
   * Admits a batch, and counts the fields of groups and the units of times that the format cannot carry.
   * @returns the number of events that can be written, whatever fields of the core they lose
   */
  beginBatch(batch: EventBatch): number {
    const { count, groups } = batch
    this.before = this.events
    this.events += count
    this.anywhere |= this.somewhere
    const identified = this.countIdentity(batch)
    const timed = this.unitLoss?.find(batch) === true ? this.countUnit(this.unitLoss) : count
    const grouped = groups === undefined || (groups.columns & ~this.groups) === 0 ? count : this.countGroups(batch)
    return Math.min(count, identified, timed, grouped)
  }

  /** Counts a trace whose addresses readers will take for the program's. @returns the number of events to write */
  private countIdentity({ header, count }: EventBatch): number {
    if (count === 0 || header === this.unidentified || !this.losesIdentity(header)) return count
    if (this.strict) return 0
    this.unidentified = header
    this.count(IDENTITY_LOST)
    return count
  }

  private losesIdentity(header: TraceHeader): boolean {
    return !this.keepsHeaders && hasInventedAddresses(header)
  }

  private countUnit({ reason, count, first }: UnitLoss): number {
    if (this.strict) return first
    this.count(reason, count)
    return Infinity
  }

  private countGroups(batch: EventBatch): number {
    const counts = new Map<Fields.GroupFieldName, number>()
    for (let i = 0; i < batch.count; i++) {
      const lost = this.lostGroups(batch, i)
      if (lost === 0) continue
      if (this.strict) return i
      for (const name of Fields.groupFieldNames(lost)) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    for (const [name, n] of counts) this.count(name, n)
    return batch.count
  }

  /** The fields of groups that event i loses: of an event that is dropped, none. */
  private lostGroups({ kind, groups }: EventBatch, i: number): number {
    if (groups === undefined || this.watched[kind[i]] === LEFT_OUT) return 0
    return groups.mask[i] & ~this.groups
  }

  /**
   * Counts the fields of the admitted batch that the format cannot carry or omit.
   * @returns the number of events to write, from the first: all, except in strict mode up to the first loss
   */
  countFields(batch: EventBatch): number {
    const isWhole = !this.needs && ((batch.columns | LEFT_OUT) & this.missing) === 0
    return isWhole ? batch.count : this.tallyAll(batch)
  }

  private tallyAll(batch: EventBatch): number {
    const { strict } = this
    memory ??= new LossesMemory()
    const { run } = memory
    memory.watched.set(this.watched)
    memory.needed.set(this.needed)
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

  /** Adds the kernel's counts. */
  private add({ run, lost, events }: LossesMemory): void {
    for (let place = 0; place < PLACES; place++) {
      if (events[place] === 0) continue
      const n = events[place]
      const fields = lost[2 * place]
      const kind = lost[2 * place + 1]
      const filled = fields & this.needed[kind]
      for (const name of Fields.fieldNames(filled)) this.count(this.filling(kind, name), n)
      if (fields === filled) continue
      const key = kind * FIELD_BITS + (fields & ~filled & Fields.ALL_FIELDS)
      this.tally.set(key, (this.tally.get(key) ?? 0) + n)
    }
    run.empty()
  }

  private filling(kind: number, field: Fields.CoreFieldName): string {
    return this.fillings.get(fillingKey(kind, field)) as string
  }

  private count(reason: string, events = 1): void {
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + events)
  }

  /** Counts event i of the last admitted batch as dropped or changed, for a reason that depends on its values. */
  countEvent(reason: string, _batch: EventBatch, i: number): void {
    if (this.strict) throw unencodable(reason, this.position(i))
    this.count(reason)
  }

  /** Counts a loss of the trace as a whole. @throws TraceError in strict mode */
  countTrace(reason: string): void {
    if (this.strict) throw unencodable(reason, { format: this.format, event: 1 })
    this.count(reason)
  }

  /** The place of event i of the batch admitted last. */
  position(i: number): TracePosition {
    return { format: this.format, event: this.before + i + 1 }
  }

  /** The error for the event at which `countBatch` stopped. */
  errorFor(batch: EventBatch, i: number): Error {
    const code = batch.kind[i]
    const watched = this.watched[code]
    const needed = this.needed[code]
    const mask = batch.mask[i]
    const at = this.position(i)
    const fields: Fields.FieldName[] = [
      ...Fields.fieldNames(mask & watched & ~needed),
      ...Fields.groupFieldNames(this.lostGroups(batch, i)),
    ]
    const [absent] = Fields.fieldNames(needed & ~mask)
    if (fields.length === 0 && absent !== undefined) return unencodable(this.filling(code, absent), at)
    const { unitLoss } = this
    if (fields.length === 0 && watched !== LEFT_OUT && unitLoss?.first === i) return unencodable(unitLoss.fault, at)
    if (fields.length === 0 && watched !== LEFT_OUT && this.losesIdentity(batch.header))
      return unencodable(`cannot represent ${IDENTITY_LOST}`, at)
    const what =
      watched === LEFT_OUT ? `${Fields.KINDS[code]} events` : `${fields.join(', ')} of ${Fields.KINDS[code]} events`
    return unencodable(`cannot represent ${what}`, at)
  }

  get counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    const add = (name: string, n: number) => counts.set(name, (counts.get(name) ?? 0) + n)
    const known = new Set<Fields.FieldName>(Fields.fieldNames(this.anywhere))
    for (const [key, n] of [...this.tally].toSorted(([a], [b]) => a - b)) {
      const kind = Fields.KINDS[Math.floor(key / FIELD_BITS)]
      const lost = key % FIELD_BITS
      // A written event loses some field, so an empty set of fields means that the kind is dropped.
      if (lost === 0) add(`${kind} events`, n)
      else {
        for (const name of Fields.fieldNames(lost)) add(known.has(name) ? `${name} of ${kind}` : name, n)
      }
    }
    for (const [reason, n] of this.reasons) add(reason, n)
    return counts
  }
}

function fillingKey(kind: number, field: Fields.CoreFieldName): number {
  return kind * 32 + Math.clz32(Fields.FieldBit[field])
}
