import { pipeline, Writable } from 'node:stream'
import type { EventBatch } from '../event/batch.js'
import { asError, wrongType } from '../event/error.js'
import { checkNeededOptions, LIMIT, type OptionNames } from '../event/options.js'
import { showValue } from '../event/message-text.js'
import { synchronous } from '../event/synchronous.js'
import type { TraceEvent } from '../event/trace-event.js'
import { PARTITION_OPTIONS, Partitioner, type PartitionOptions } from '../transforms/split.js'
import { acceptFailures } from './failure.js'
import { EventIntake } from './intake.js'
import { Side } from './side.js'
import type { Done, TakesEvents } from './types.js'

/** How `split` divides. */
export interface SplitOptions extends PartitionOptions {
  /** More parts than this are an error. Default 1000; `Infinity` for no limit. */
  readonly maxParts?: number
}

/**
 * The destination of a part: a sink for events, or streams to pipe it through and a sink for the results of the last.
 */
export type PartTarget = NodeJS.WritableStream | readonly [...NodeJS.ReadWriteStream[], NodeJS.WritableStream]

/** A sink that divides events. */
export interface SplitSink extends Writable, TakesEvents {
  /** The keys of all parts so far. */
  readonly keys: readonly string[]
}

/**
 * A Writable that divides events by thread, kind, size class and so on, with separate streams for each part. It is as
 * fast as the slowest part, and has finished when all parts have. When the pipeline fails, every part gets its events
 * before the fault; formats with an end mark do not get it. When it is aborted or closed, the parts are closed at once.
 * For files, of which only some are open at a time, see `SplitFiles` in `heapflow/stages`.
 *
 * @example
 * const open = (thread: string) => [hatf.encode(), createWriteStream(`thread-${thread}.hatf`)] as const
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), split({ by: 'thread' }, open))
 *
 * @param open called once for each key, with the key; see `PARTITIONS` for what keys look like
 * @throws RangeError for unknown options, and unknown ways to divide; TypeError if `open` is no function
 */
export function split(options: SplitOptions, open: (key: string) => PartTarget): SplitSink {
  return new Splitter(options, open)
}

interface Part {
  readonly side: Side
  /** Settled when its streams are done. */
  readonly done: Promise<void>
}

const MAX_PARTS = 1000
const OPTIONS: OptionNames<SplitOptions> = { ...PARTITION_OPTIONS, maxParts: LIMIT }

class Splitter extends Writable implements SplitSink {
  private readonly partitioner: Partitioner
  private readonly maxParts: number
  private readonly parts = new Map<string, Part>()
  private readonly intake = new EventIntake(
    'split()',
    (batch) => this.give(this.partitioner.partition(batch)),
    (text) => this.emit('warning', text),
  )
  /** Called when a part can accept more. */
  private wake: () => void = () => {}
  private isOver = false

  constructor(
    options: SplitOptions,
    private readonly open: (key: string) => PartTarget,
  ) {
    super({ objectMode: true, highWaterMark: 1 })
    checkNeededOptions(options, OPTIONS, 'split')
    if (typeof open !== 'function') throw wrongType(`split(): open must be a function, not ${showValue(open)}`)
    const { maxParts = MAX_PARTS, ...partition } = options
    this.partitioner = new Partitioner(partition)
    this.maxParts = maxParts
    acceptFailures(this)
  }

  get keys(): readonly string[] {
    return [...this.parts.keys()]
  }

  override _write(chunk: EventBatch | TraceEvent, _encoding: BufferEncoding, done: Done): void {
    this.intake.take(chunk).then(
      () => done(),
      // `open` may throw anything, even undefined, which would be no error.
      (thrown: unknown) => done(asError(thrown)),
    )
  }

  override _final(done: Done): void {
    this.finish().then(
      () => done(),
      (thrown: unknown) => done(asError(thrown)),
    )
  }

  override _destroy(error: Error | null, done: Done): void {
    const reason = error ?? new Error('the trace was closed before it had ended')
    // After a failure, parts get the rest, as fast as they are read. No one waits for it who gave up.
    const isAbandoned = error === null || error.name === 'AbortError'
    if (!this.isOver && !isAbandoned) this.giveRest()
    for (const { side } of this.parts.values())
      if (isAbandoned) side.destroy(reason)
      else side.fail(reason)
    this.isOver = true
    this.wake()
    // Earlier events must be written before the pipeline ends.
    void Promise.allSettled([...this.parts.values()].map((part) => part.done)).then(() => done(error))
  }

  /** Passes batches to their parts, and waits until none of these is full. */
  private async give(batches: Iterable<{ readonly key: string; readonly batch: EventBatch }>): Promise<void> {
    const isBusy = () => !this.isOver && [...this.parts.values()].some(({ side }) => side.isFull)
    for (const { key, batch } of batches) this.part(key).side.give(batch)
    while (isBusy()) await new Promise<void>((resolve) => (this.wake = resolve))
  }

  /** Passes on the plain events that came before the fault, without waiting. */
  private giveRest(): void {
    try {
      for (const batch of this.intake.rest())
        for (const { key, batch: events } of this.partitioner.partition(batch)) this.part(key).side.give(events)
    } catch {
      // The fault is the one that came first.
    }
  }

  private async finish(): Promise<void> {
    await this.intake.finish()
    await this.give(this.partitioner.end())
    this.isOver = true
    for (const { side } of this.parts.values()) side.finish()
    await Promise.all([...this.parts.values()].map(({ done }) => done))
    for (const text of this.partitioner.warnings) this.emit('warning', text)
  }

  private part(key: string): Part {
    const known = this.parts.get(key)
    if (known !== undefined) return known
    if (this.parts.size >= this.maxParts)
      throw new RangeError(`more than ${this.maxParts} parts: divide otherwise, or allow more (maxParts)`)
    const target = synchronous(this.open(key))
    const targets = Array.isArray(target) ? (target as NodeJS.WritableStream[]) : [target as NodeJS.WritableStream]
    if (targets.length === 0 || !targets.every(isTarget))
      throw wrongType(
        `split(): the target of ${JSON.stringify(key)} must be a sink, or streams and a sink, not ` + showValue(target),
      )
    // A sink for bytes would throw where no one can catch it.
    if ((targets[0] as Partial<Writable> | undefined)?.writableObjectMode === false) {
      // Nothing will use them: a file would stay open, and an error of it would end the process.
      for (const refused of targets) if ('destroy' in refused) (refused as Writable).on('error', () => {}).destroy()
      throw wrongType(`split(): the target of ${JSON.stringify(key)} takes bytes: put an encoder before it`)
    }
    const side = new Side(
      () => this.wake(),
      (error) => this.destroy(error),
    )
    const streams = [side, ...targets]
    const done = new Promise<void>((resolve, reject) => {
      pipeline(streams as [Side, NodeJS.WritableStream], (error) => (error ? reject(error) : resolve()))
    })
    // A part that fails ends all parts; the others then fail with the same error.
    done.catch((error: Error) => this.destroy(error))
    const part = { side, done }
    this.parts.set(key, part)
    return part
  }
}

/** Whether a pipeline can write to it: streams of Node and of the web, and functions. */
function isTarget(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'function'
  return 'write' in value || 'writable' in value || 'getWriter' in value
}
