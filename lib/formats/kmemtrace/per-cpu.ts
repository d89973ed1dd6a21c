import { batchesOf, reviseBatch, type EventBatch } from '../../event/batch.js'
import { selectRows } from '../../kernel/select.js'
import { FieldBit, Kind } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import { OneBatch } from '../../event/one-batch.js'
import { FORMAT, layoutFor, type KmemtraceLayout } from './layout.js'
import { Parts, reallocParts } from '../../blocks/realloc.js'

const { cpu: HAS_CPU, sequence: HAS_SEQUENCE, size: HAS_SIZE, count: HAS_COUNT, address: HAS_ADDRESS } = FieldBit
const { code: HAS_CODE } = FieldBit
const { lost: LOST, realloc: REALLOC } = Kind

/** The CPU whose file receives events without a CPU. */
const DEFAULT_CPU = 0

/**
 * The number of a CPU in the name of its file, such as `cpu7`, at the end of the name before any extensions; undefined
 * for other names.
 */
export function cpuOfPath(path: string): number | undefined {
  const digits = /cpu(\d{1,9})(\.[a-z]\w*)*$/i.exec(path)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/**
 * Prepares events for division into files by CPU. Events without a CPU, or with a negative one, belong to CPU 0.
 * Missing sequence numbers are added if the records have them, because nothing else shows the order of the records of
 * several files.
 */
export class PerCpu extends OneBatch<EventBatch> {
  /** The total number of bytes that the kernel dropped, if overruns are removed. */
  overruns = 0n
  private sequence = 0

  /**
   * @param layout the layout options of the encoder
   * @param takeOverruns remove what per-CPU files cannot represent: `lost` events with the bytes that the kernel
   *   dropped
   */
  constructor(
    private readonly layout: Partial<KmemtraceLayout>,
    private readonly takeOverruns: boolean,
  ) {
    super()
  }

  next(): EventBatch | null {
    const batch = this.fed()
    return batch === null ? null : this.complete(this.takeOverruns ? this.withoutOverruns(batch) : batch)
  }

  private withoutOverruns(batch: EventBatch): EventBatch {
    const { kind, mask, count } = batch
    if (!kind.subarray(0, count).includes(LOST)) return batch
    const rows = new Int32Array(count)
    let n = 0
    for (let i = 0; i < count; i++) {
      if (kind[i] === LOST && (mask[i] & (HAS_SIZE | HAS_COUNT)) === HAS_SIZE) {
        this.overruns += batch.size.values[i]
      } else {
        rows[n++] = i
      }
    }
    return n === count ? batch : selectRows(batch, rows, n)
  }

  private complete(batch: EventBatch): EventBatch {
    const layout = layoutFor(batch.header, this.layout)
    const isNumbered = typeof layout !== 'string' && layout.layout === 'relay'
    const { count } = batch
    let revised: EventBatch | undefined
    for (let i = 0; i < count; i++) {
      const mask = batch.mask[i]
      const records = isNumbered ? recordsOf(batch, i) : 0
      // A realloc's first record has the event's number, and the second record the next number.
      const hasNumber = (mask & HAS_SEQUENCE) !== 0 && batch.kind[i] !== REALLOC
      const hasCpu = (mask & HAS_CPU) !== 0 && batch.cpu[i] >= 0
      if (!hasCpu || (records > 0 && !hasNumber)) {
        revised ??= this.revise(batch, isNumbered ? HAS_CPU | HAS_SEQUENCE : HAS_CPU)
        if (!hasCpu) revised.cpu[i] = DEFAULT_CPU
        if (records > 0 && !hasNumber) revised.sequence[i] = this.sequence + 1
        revised.mask[i] = mask | HAS_CPU | (records > 0 ? HAS_SEQUENCE : 0)
      }
      this.sequence = hasNumber ? batch.sequence[i] : (this.sequence + records) | 0
    }
    return revised ?? batch
  }

  private revise(batch: EventBatch, wanted: number): EventBatch {
    const { count } = batch
    const revised = reviseBatch(batch, wanted)
    if ((batch.columns & HAS_CPU) !== 0) revised.cpu.set(batch.cpu.subarray(0, count))
    if ((wanted & batch.columns & HAS_SEQUENCE) !== 0) revised.sequence.set(batch.sequence.subarray(0, count))
    return revised
  }
}

/** Reports at the end of a trace the number of bytes that the kernel dropped, as a `lost` event with that size. */
export class Overruns extends OneBatch<EventBatch> {
  private header: TraceHeader = { format: FORMAT }

  constructor(private readonly bytes: bigint) {
    super()
  }

  override feed(batch: EventBatch): void {
    super.feed(batch)
    this.header = batch.header
  }

  next(): EventBatch | null {
    return this.fed()
  }

  override end(): void {
    super.feed(batchesOf([{ kind: 'lost', size: this.bytes }], this.header)[0])
  }
}

/** The number of numbered records for an event. */
function recordsOf(batch: EventBatch, i: number): number {
  const mask = batch.mask[i]
  switch (batch.kind[i]) {
    case Kind.alloc:
    case Kind.existing:
    case Kind.free:
      return (mask & HAS_ADDRESS) !== 0 ? 1 : 0
    case REALLOC: {
      const { parts } = reallocParts(batch, i)
      return ((parts & Parts.free) !== 0 ? 1 : 0) + ((parts & Parts.alloc) !== 0 ? 1 : 0)
    }
    default:
      return batch.kind[i] === Kind.other && (mask & HAS_CODE) !== 0 ? 1 : 0
  }
}
