import { HI, LO } from '../bytes/u64.js'
import { reviseBatch, type EventBatch } from '../event/batch.js'
import { FieldBit } from '../event/fields.js'
import { checkOptions, type OptionNames } from '../event/options.js'
import type { BatchTransform } from '../event/stage.js'

const HAS_THREAD = FieldBit.thread
const HAS_PROCESS = FieldBit.process

/** Offsets that distinguish the ids of one trace from the ids of other traces. */
export interface IdOffsetOptions {
  /** Added to every thread id, modulo 2^64. */
  readonly thread?: bigint
  /** Added to every process id, modulo 2^64. */
  readonly process?: bigint
  /** The process of events that have none. */
  readonly defaultProcess?: bigint
}

const OPTIONS: OptionNames<IdOffsetOptions> = { thread: 'bigint', process: 'bigint', defaultProcess: 'bigint' }

/**
 * Shifts the thread and process ids of a trace, so that they differ from the ids of the traces with which it is merged.
 */
export class IdOffset implements BatchTransform {
  private readonly thread: bigint
  private readonly process: bigint
  private readonly defaultProcess: bigint | undefined
  private batch: EventBatch | null = null

  constructor(options: IdOffsetOptions) {
    checkOptions(options, OPTIONS, 'IdOffset')
    const { thread = 0n, process = 0n, defaultProcess } = options
    this.thread = BigInt.asUintN(64, thread)
    this.process = BigInt.asUintN(64, process)
    this.defaultProcess = defaultProcess === undefined ? undefined : BigInt.asUintN(64, defaultProcess)
  }

  feed(batch: EventBatch): void {
    this.batch = batch
  }

  next(): EventBatch | null {
    const source = this.batch
    this.batch = null
    return source === null ? null : this.move(source)
  }

  end(): void {}

  endTruncated(): void {}

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
    if (defaultProcess !== undefined) {
      const { words } = target.process
      const lo = Number(defaultProcess & 0xffff_ffffn)
      const hi = Number(defaultProcess >> 32n)
      for (let i = 0; i < target.count; i++) {
        const mask = target.mask[i]
        if ((mask & HAS_PROCESS) !== 0) continue
        target.mask[i] = mask | HAS_PROCESS
        words[2 * i + LO] = lo
        words[2 * i + HI] = hi
      }
    }
    return target
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
