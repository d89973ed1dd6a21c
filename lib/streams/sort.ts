import { tmpdir } from 'node:os'
import { BATCH_EVENTS, EventBatch } from '../event/batch.js'
import type { TraceHeader } from '../event/header.js'
import { checkOptions, type OptionNames } from '../event/options.js'
import { didYouMean } from '../event/suggest.js'
import { showValue } from '../event/message-text.js'
import { ORDER_FIELDS, type OrderField } from '../order/order-fields.js'
import { SORT_MEMORY } from '../transforms/option-values.js'
import { SortBuffer, type KeyedBatch } from '../order/sort-buffer.js'
import { KWayMerger } from '../order/k-way-merge.js'
import { SortKeys } from '../order/sort-keys.js'
import { eventStream } from './generator.js'
import { SpillFile, type Run } from './io/spill.js'
import type { EventStream } from './types.js'

/** Batches of a run are small, because one of each run is in memory during merging. */
const RUN_BATCH_EVENTS = 1024

/** The maximum number of runs merged at a time; with more, each read would be small. */
const MAX_FAN_IN = 64

/**
 * The memory needed per byte of events. During merging, events are held packed, unpacked and in the result. While
 * events are collected, uncollected garbage is about twice as large as they are.
 */
const MEMORY_PER_BYTE = 3

export interface SortOptions {
  /** The field that determines the order. */
  readonly by: OrderField
  /** The approximate memory limit in bytes, beyond which a temporary file is used. Default `SORT_MEMORY`. */
  readonly memory?: number
  /** The folder for temporary files. Default: the system's. */
  readonly folder?: string
}

const OPTIONS: OptionNames<SortOptions> = {
  by: 'string',
  memory: { what: 'a number of bytes', is: (value) => typeof value === 'number' && value >= 0 },
  folder: 'string',
}

/**
 * A Transform of `EventBatch` objects that puts the events of each trace in the order of a field: an external merge
 * sort, so a trace may be larger than the memory. Equal values keep their order. Events without the field stay after
 * the event before them; those before any that has it come first. Sequence numbers wrap. When the input fails, the
 * events before the fault are delivered in order, and then the error. Emits `warning` with a text for a trace of which
 * no event has the field.
 *
 * @throws RangeError for unknown options, fields that events cannot be sorted by, and memory that is not a number of
 *   bytes
 */
export function sort(options: SortOptions): EventStream<'events'> {
  checkSortOptions(options)
  const settings = { ...options }
  return eventStream('sort()', async function* (source, stream) {
    const held = new SortBuffer()
    let sorter: TraceSorter | undefined
    stream.once('close', () => void sorter?.close().catch(() => {}))
    const sorted = async function* (done: TraceSorter): AsyncGenerator<EventBatch> {
      yield* done.sorted()
      if (done.isUnkeyed)
        stream.emit('warning', `no event has a field ${JSON.stringify(settings.by)}; order left unchanged`)
    }
    let fault: { readonly error: unknown } | undefined
    const batches = async function* (): AsyncGenerator<EventBatch> {
      try {
        yield* source
      } catch (error) {
        // It comes after the events before it, in order.
        fault = { error }
      }
    }
    for await (const batch of batches()) {
      if (sorter !== undefined && batch.header !== sorter.header) {
        yield* sorted(sorter)
        sorter = undefined
      }
      await (sorter ??= new TraceSorter(batch.header, held, settings)).add(batch)
    }
    if (sorter !== undefined) yield* sorted(sorter)
    if (fault !== undefined) throw fault.error
  })
}

function checkSortOptions(options: SortOptions): void {
  checkOptions(options, OPTIONS, 'sort')
  // Untyped programs may leave the options out.
  const { by }: Partial<SortOptions> = options ?? {}
  if (!(ORDER_FIELDS as readonly unknown[]).includes(by)) {
    const hint = typeof by === 'string' ? didYouMean(by, ORDER_FIELDS) : ''
    throw new RangeError(`sort: events cannot be sorted by ${showValue(by)}${hint}`)
  }
}

/** Sorts the events of one trace. */
class TraceSorter {
  private readonly keys: SortKeys
  private readonly memory: number
  private readonly folder: string
  private spill: SpillFile | undefined
  private runs: Run[] = []
  private events = 0
  private isClosed = false

  /** @param held the buffer of the events, empty when a trace begins, and after all of it was delivered */
  constructor(
    readonly header: TraceHeader,
    private readonly held: SortBuffer,
    { by, memory = SORT_MEMORY, folder = tmpdir() }: SortOptions,
  ) {
    this.keys = new SortKeys(by)
    this.memory = memory
    this.folder = folder
  }

  /** There are events, and none has the field. */
  get isUnkeyed(): boolean {
    return this.events > 0 && this.keys.keyed === 0
  }

  async add(batch: EventBatch): Promise<void> {
    if (batch.count === 0) return
    this.events += batch.count
    this.held.add(batch, this.keys.of(batch))
    if (MEMORY_PER_BYTE * this.held.bytes > this.memory) await this.writeRun()
  }

  /** All events in order; if there are none, an empty batch, which carries the header. */
  async *sorted(): AsyncGenerator<EventBatch> {
    if (this.runs.length === 0) {
      for (const { batch } of this.held.inOrder(this.header, BATCH_EVENTS)) yield batch
      if (this.events === 0) yield new EventBatch(0, 0, this.header)
      this.held.clear()
      return
    }
    try {
      if (this.held.count > 0) await this.writeRun()
      // Its memory is free for merging.
      this.held.release()
      for (let fanIn = this.fanIn(); this.runs.length > fanIn; fanIn = this.fanIn()) await this.mergeGroups(fanIn)
      for await (const { batch } of this.merge(this.runs)) yield batch
    } finally {
      await this.close()
    }
  }

  /** Closes the temporary file. May be called at any time, and repeatedly. */
  async close(): Promise<void> {
    const { spill } = this
    this.isClosed = true
    this.spill = undefined
    await spill?.close()
  }

  private async writeRun(): Promise<void> {
    this.spill ??= this.createFile()
    this.runs.push(await this.spill.write(this.held.inOrder(this.header, RUN_BATCH_EVENTS)))
    this.held.clear()
  }

  private createFile(): SpillFile {
    // A stream that was destroyed in the meantime would never close it.
    if (this.isClosed) throw new Error('the sorter is closed')
    return new SpillFile(this.folder)
  }

  /** The maximum number of runs that can be merged at a time. */
  private fanIn(): number {
    const largest = this.runs.reduce((most, run) => Math.max(most, run.largest), 1)
    return Math.min(MAX_FAN_IN, Math.max(2, Math.floor(this.memory / (MEMORY_PER_BYTE * largest))))
  }

  /** Merges neighbouring runs into fewer ones, in a separate file. */
  private async mergeGroups(fanIn: number): Promise<void> {
    const before = this.spill as SpillFile
    const spill = this.createFile()
    try {
      const longer: Run[] = []
      for (let r = 0; r < this.runs.length; r += fanIn)
        longer.push(await spill.write(this.merge(this.runs.slice(r, r + fanIn))))
      this.runs = longer
    } catch (error) {
      await spill.close()
      throw error
    }
    this.spill = spill
    await before.close()
  }

  private async *merge(runs: readonly Run[]): AsyncGenerator<KeyedBatch> {
    const { header } = this
    const spill = this.spill as SpillFile
    const readers = runs.map((run) => spill.read(run, header))
    const interleaver = new KWayMerger(runs.length)
    for (;;) {
      for (let batch = interleaver.next(header); batch !== null; batch = interleaver.next(header)) {
        yield { batch, keys: interleaver.keys }
      }
      const r = interleaver.wants()
      if (r < 0) return
      const { done, value } = await readers[r].next()
      if (done === true) interleaver.end(r)
      else interleaver.feed(r, value.batch, value.keys)
    }
  }
}
