import { LiveSet, tooManyBlocks } from '../../blocks/live-set.js'
import { HI, LO } from '../../bytes/u64.js'
import { BATCH_EVENTS, reviseBatch, type EventBatch } from '../../event/batch.js'
import { limit, type TracePosition } from '../../event/error.js'
import { Api, FieldBit, fieldSet, Kind } from '../../event/fields.js'
import { refuseUnidentified, type TraceHeader } from '../../event/header.js'
import { OneBatch } from '../../event/one-batch.js'
import { OVERALIGNED, SEVERAL, TOO_LARGE, TOO_MANY, UNMAPPED } from '../../kernel/layouts/simulate.js'
import { selectRows } from '../../kernel/select.js'
import type { LifetimeReader } from './lifetimes/predictor.js'
import { SimulateKernel } from './kernel.js'
import type { SimulateOptions, SimulateSettings } from './policies.js'
import type { SimulationResult } from './result.js'
import { settingsOf } from './settings.js'

const HAS_API = FieldBit.api
/** The fields that the kernel reads, besides those that identify blocks. */
const READ = fieldSet('alignment', 'oldAddress', 'outcome', 'address', 'size', 'api', 'thread', 'count')
/** The fields that an added free takes from the event after it. */
const KEPT = fieldSet('api', 'process', 'thread', 'cpu', 'sequence', 'time', 'index', 'address')
/** The maximum number of results that are kept of a stream of traces. */
export const MOST_RESULTS = 256

/** The reasons why a block has no room. */
const NO_HEAP = 'the simulated heap would have more than 2^45 bytes'
const OVERALIGNED_BLOCK = 'blocks are simulated with alignments of up to 2^32'
const OVERALIGNED_PTMALLOC = 'ptmalloc is simulated with alignments of up to 2^26'
const NO_MAPPINGS = 'the simulated ptmalloc has no addresses left: stacks, heaps of threads and large blocks take them'
const NO_JEMALLOC =
  'jemalloc is simulated with blocks and alignments of up to 2^43 and 2^32 bytes, and addresses of its word size'
const SPACES =
  'is simulated for one process, and this trace has several address spaces: hf-filter --process or --api keeps one'
const TOO_MANY_EXTENTS =
  'jemalloc is simulated with fewer than 2^21 extents: large blocks, runs of small ones, and free pages'

/**
 * Gives every block the address that it would have under a policy of allocation. Each address space has a heap of its
 * own, and each trace begins with empty heaps.
 *
 * Frees and reallocs of blocks that are not live are counted, and lose the address of the unknown block. An allocation
 * at the address of a live block ends that block: a free of it is added before the allocation. Calls that failed stay
 * as they are. Allocations in blocks of zero bytes are blocks of the smallest size. The field `usable` is dropped.
 *
 * Memory grows with the live blocks.
 */
export class Simulator extends OneBatch<EventBatch> {
  readonly settings: SimulateSettings
  private readonly kernel: SimulateKernel
  private readonly live: LiveSet
  private readonly predictor: LifetimeReader | undefined
  private readonly isMeasured: boolean
  private readonly done: SimulationResult[] = []
  private header: TraceHeader | undefined
  /** The number of traces so far. */
  traces = 0
  private events = 0
  private reused = 0
  private error: Error | undefined

  /**
   * @param isMeasured whether only the figures are wanted: the events have no new addresses then
   * @throws RangeError for options that are unknown, out of range, or of another policy
   */
  constructor(options: SimulateOptions, isMeasured?: boolean) {
    super()
    this.settings = settingsOf(options)
    this.isMeasured = isMeasured ?? options.policy === 'ideal'
    this.predictor = options.predict?.reader()
    this.kernel = new SimulateKernel(this.settings)
    this.live = new LiveSet(0, this.kernel.run)
    this.kernel.refresh()
  }

  /** @throws TraceError when a heap would be too large @throws RangeError for a trace without identity of blocks */
  next(): EventBatch | null {
    if (this.error !== undefined) throw this.error
    const batch = this.fed()
    return batch === null ? null : this.place(batch)
  }

  dispose(): void {
    this.note()
    this.header = undefined
    this.live.dispose()
  }

  /** The figures of each trace so far, at most 256: later ones are not listed. */
  results(): readonly SimulationResult[] {
    if (this.header === undefined || this.done.length >= MOST_RESULTS) return this.done
    return [...this.done, this.kernel.result(this.events, this.reused)]
  }

  /** Keeps the figures of the trace that has ended. */
  private note(): void {
    if (this.header !== undefined && this.done.length < MOST_RESULTS)
      this.done.push(this.kernel.result(this.events, this.reused))
  }

  private begin(header: TraceHeader): void {
    refuseUnidentified(header, 'no heap can be simulated')
    this.note()
    this.header = header
    this.traces++
    this.events = this.reused = 0
    this.live.clear()
    if (!this.kernel.begin()) throw tooManyBlocks()
  }

  private place(source: EventBatch): EventBatch | null {
    if (source.header !== this.header) this.begin(source.header)
    const { count } = source
    const fresh = fieldSet('address', 'oldAddress') | (source.columns & FieldBit.outcome)
    const target = this.isMeasured ? undefined : reviseBatch(source, fresh)
    const rows: number[] = []
    const freed: number[] = []
    let placed = 0
    for (let from = 0; from < count && placed === from; from += BATCH_EVENTS) {
      const to = Math.min(from + BATCH_EVENTS, count)
      placed += this.placeRows(source, from, to)
      if (target !== undefined) this.take(target, from, placed, (fresh & FieldBit.outcome) !== 0)
      this.noteFreed(from, placed, rows, freed)
    }
    this.events += placed
    if (this.error !== undefined && placed === 0) throw this.error
    if (target === undefined) return placed === count ? source : withFrees(source, placed, [], [])
    if (rows.length === 0 && placed === count) return target
    return withFrees(target, placed, rows, freed)
  }

  /** @returns the number of rows that were placed */
  private placeRows(source: EventBatch, from: number, to: number): number {
    const { kernel, live } = this
    const unclear = live.followClear(source, from, to)
    const rows = (unclear?.row ?? to) - from
    kernel.refresh()
    if (this.predictor !== undefined)
      this.predictor.predict(source, from, from + rows, live, kernel.bytes(kernel.run.PREDICTED.value, rows))
    kernel.columns.put(source, from, from + rows, READ)
    const placed = kernel.run.placeRows(rows)
    kernel.refresh()
    const at = { format: source.header.format, event: this.events + from + placed + 1 }
    if (placed < rows) this.error = this.faultAt(at)
    else if (unclear !== undefined) this.error = unclear.at(at)
    return placed
  }

  /** The reason why a row was not placed. */
  private faultAt(at: TracePosition): Error {
    const { policy } = this.settings
    const fault = this.kernel.run.fault.value
    if (policy === 'jemalloc' && (fault === TOO_LARGE || fault === OVERALIGNED)) return limit(NO_JEMALLOC, at)
    if (fault === TOO_LARGE) return limit(NO_HEAP, at)
    if (fault === OVERALIGNED) return limit(policy === 'ptmalloc' ? OVERALIGNED_PTMALLOC : OVERALIGNED_BLOCK, at)
    if (fault === UNMAPPED) return limit(NO_MAPPINGS, at)
    if (fault === TOO_MANY) return limit(TOO_MANY_EXTENTS, at)
    if (fault === SEVERAL) return limit(`${policy} ${SPACES}`, at)
    return tooManyBlocks()
  }

  /** Copies what the kernel changed. */
  private take(target: EventBatch, from: number, to: number, hasOutcome: boolean): void {
    const { run } = this.kernel
    const { buffer } = run.memory
    const n = to - from
    target.mask.set(new Uint32Array(buffer, run.MASK.value, n), from)
    target.address.words.set(new Uint32Array(buffer, run.ADDRESS.value, 2 * n), 2 * from)
    target.oldAddress.words.set(new Uint32Array(buffer, run.OLD_ADDRESS.value, 2 * n), 2 * from)
    if (hasOutcome) target.outcome.set(new Uint8Array(buffer, run.OUTCOME.value, n), from)
  }

  /** Adds the events before which a block has to be freed, and the words of its address. */
  private noteFreed(from: number, to: number, rows: number[], freed: number[]): void {
    const { run } = this.kernel
    const n = run.freedBefore.value
    if (n === 0) return
    this.reused += n
    const words = new Uint32Array(run.memory.buffer, run.FREED_BEFORE.value, 2 * (to - from))
    for (let row = 0; row < to - from; row++) {
      const lo = words[2 * row + LO]
      const hi = words[2 * row + HI]
      if ((lo | hi) === 0) continue
      rows.push(from + row)
      freed.push(lo, hi)
    }
  }
}

/** The first events of a batch, with frees before some of them. */
function withFrees(batch: EventBatch, count: number, before: readonly number[], freed: readonly number[]): EventBatch {
  const rows = new Int32Array(count + before.length)
  let n = 0
  let next = 0
  const places: number[] = []
  for (let i = 0; i < count; i++) {
    if (before[next] === i) {
      places.push(n)
      rows[n++] = i
      next++
    }
    rows[n++] = i
  }
  const target = selectRows(batch, rows, n)
  target.addColumns(FieldBit.address)
  for (const [k, i] of places.entries()) {
    const mask = target.mask[i]
    const isKernels = (mask & HAS_API) !== 0 && target.api[i] >= Api.kmalloc
    target.kind[i] = Kind.free
    if (target.groups !== undefined) target.groups.mask[i] = 0
    target.mask[i] = (mask & KEPT & (isKernels ? ~0 : ~HAS_API)) | FieldBit.address
    if (isKernels && target.api[i] !== Api.pages) target.api[i] = Api.kfree
    target.address.words[2 * i + LO] = freed[2 * k]
    target.address.words[2 * i + HI] = freed[2 * k + 1]
  }
  return target
}
