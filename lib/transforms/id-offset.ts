import { HI, LO, wide } from '../bytes/u64.js'
import { reviseBatch, type EventBatch } from '../event/batch.js'
import { malformed, type TraceError } from '../event/error.js'
import { FieldBit, Kind } from '../event/fields.js'
import { checkOptions, type OptionNames } from '../event/options.js'
import { OneBatch } from '../event/one-batch.js'
import type { ProcessNumbers } from './process-numbers.js'

const { thread: HAS_THREAD, process: HAS_PROCESS } = FieldBit
/** Kinds, as bits, of events that say nothing of a process's memory, so that they may lack its number. */
const ASIDE = (1 << Kind.comment) | (1 << Kind.lost) | (1 << Kind.other)

/** Offsets that distinguish the ids of one trace from the ids of other traces. */
export interface IdOffsetOptions {
  /** Added to every thread id, modulo 2^64. */
  readonly thread?: bigint
  /** Added to every process id, modulo 2^64. */
  readonly process?: bigint
  /** The process of events that have none, to which `process` is added, too. */
  readonly defaultProcess?: bigint
  /** Shared by the traces that are merged: finds events whose process is that of events without one. */
  readonly numbers?: ProcessNumbers
}

const OPTIONS: OptionNames<IdOffsetOptions> = {
  thread: 'bigint',
  process: 'bigint',
  defaultProcess: 'bigint',
  numbers: true,
}

/**
 * Shifts the thread and process ids of a trace, so that they differ from the ids of the traces with which it is merged.
 */
export class IdOffset extends OneBatch<EventBatch> {
  private readonly thread: bigint
  private readonly process: bigint
  private readonly defaultProcess: bigint | undefined
  private readonly numbers: ProcessNumbers | undefined
  /** The events of earlier batches. */
  private events = 0
  /** Whether an event has got the default process. */
  private isGiven = false
  /** The process that was checked last. */
  private lastLo = 0
  private lastHi = 0
  private isChecked = false
  private fault: TraceError | undefined

  constructor(options: IdOffsetOptions) {
    super()
    checkOptions(options, OPTIONS, 'IdOffset')
    const { thread = 0n, process = 0n, defaultProcess, numbers } = options
    this.thread = BigInt.asUintN(64, thread)
    this.process = BigInt.asUintN(64, process)
    this.defaultProcess = defaultProcess === undefined ? undefined : BigInt.asUintN(64, defaultProcess + process)
    this.numbers = numbers
  }

  /**
   * @throws TraceError for an event whose process has the number that is given to events without a process. The events
   *   before it were delivered.
   */
  next(): EventBatch | null {
    if (this.fault !== undefined) throw this.fault
    const source = this.fed()
    if (source === null) return null
    const target = this.move(source)
    this.events += source.count
    return target
  }

  private move(source: EventBatch): EventBatch {
    const { thread, process, defaultProcess } = this
    const changed =
      (thread === 0n ? 0 : HAS_THREAD & source.columns) | (process === 0n ? 0 : HAS_PROCESS & source.columns)
    const fresh = changed | (defaultProcess === undefined ? 0 : HAS_PROCESS)
    if (fresh === 0) return source
    const target = reviseBatch(source, fresh)
    if ((fresh & HAS_THREAD) !== 0) addTo(source.thread.words, target.thread.words, source, HAS_THREAD, thread)
    if ((fresh & HAS_PROCESS) === 0) return target
    if ((source.columns & HAS_PROCESS) !== 0)
      addTo(source.process.words, target.process.words, source, HAS_PROCESS, process)
    if (defaultProcess !== undefined) this.complete(target, defaultProcess)
    return target
  }

  /** Gives events without a process the default one, up to an event that has the same one already. */
  private complete(target: EventBatch, process: bigint): void {
    const { kind, process: column } = target
    const { words } = column
    const lo = Number(process & 0xffff_ffffn)
    const hi = Number(process >> 32n)
    for (let i = 0; i < target.count && this.fault === undefined; i++) {
      const mask = target.mask[i]
      const counts = ((ASIDE >>> kind[i]) & 1) === 0
      if ((mask & HAS_PROCESS) !== 0) {
        if (counts && this.numbers !== undefined) this.check(target, i, this.numbers)
        continue
      }
      if (counts && !this.isGiven) {
        this.isGiven = true
        if (this.numbers?.take(process) === false) this.stop(target, i, process)
      }
      target.mask[i] = mask | HAS_PROCESS
      words[2 * i + LO] = lo
      words[2 * i + HI] = hi
    }
  }

  private check(target: EventBatch, i: number, numbers: ProcessNumbers): void {
    const { words } = target.process
    const lo = words[2 * i + LO]
    const hi = words[2 * i + HI]
    if (lo === this.lastLo && hi === this.lastHi && this.isChecked) return
    this.lastLo = lo
    this.lastHi = hi
    this.isChecked = true
    if (!numbers.find(lo, hi)) this.stop(target, i, wide(lo, hi))
  }

  /** Ends the result before an event whose process would be that of others. */
  private stop(target: EventBatch, i: number, process: bigint): void {
    const reason = `process ${process} is also the number of events without a process: give processes a larger offset`
    this.fault = malformed(reason, { format: target.header.format, event: this.events + i + 1 })
    target.count = i
  }
}

function addTo(from: Uint32Array, to: Uint32Array, { mask, count }: EventBatch, has: number, offset: bigint): void {
  const addLo = Number(offset & 0xffff_ffffn)
  const addHi = Number(offset >> 32n)
  for (let i = 0; i < count; i++) {
    if ((mask[i] & has) === 0) continue
    const lo = from[2 * i + LO] + addLo
    to[2 * i + LO] = lo
    to[2 * i + HI] = from[2 * i + HI] + addHi + (lo > 0xffff_ffff ? 1 : 0)
  }
}
