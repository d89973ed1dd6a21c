import type { Readable } from 'node:stream'
import { EventBatch } from '../event/batch.js'
import { fieldSet, Has } from '../event/fields.js'
import type { BatchTransform } from '../event/stage.js'
import { Merger, type MergeOptions } from '../transforms/merge.js'
import type { MergeOrder } from '../transforms/order-audit.js'
import { openTrace, sourceStream, type OpenOptions, type OpenTrace } from './source.js'

/** All inputs together read about so many bytes at a time, but each at least `MIN_CHUNK_BYTES` and at most what is usual. */
const CHUNKS_BYTES = 262_144
const MIN_CHUNK_BYTES = 4096
const MAX_CHUNK_BYTES = 65_536

/** One of the files to merge. */
export interface MergeInput extends OpenOptions {
  /** The file, or `-` for standard input. */
  readonly path: string
  /** What warnings and errors call it. Default the path. */
  readonly name?: string
  /** What its events pass through before they are merged; each batch gives at most one. */
  readonly stage?: BatchTransform
}

/** How `mergeInputs` merges. */
export interface MergeInputsOptions extends Omit<MergeOptions, 'by'> {
  /**
   * The field that gives the order. Default: sequence numbers or, where there are none, times, as the first events of the
   * inputs have them.
   */
  readonly by?: MergeOrder
}

/** Traces cannot be put in order, for their events have neither sequence numbers nor times. */
export class NoOrderError extends Error {}

/** A stream of the events of several files. */
export type MergedStream = Readable & AsyncIterable<EventBatch> & {
  /** How many bytes of all files were read so far. */
  bytesRead(): number
}

/**
 * A Readable of `EventBatch` objects: the events of several files merged by time or sequence number, as `Merger` says. Emits
 * `warning` with a text that begins with the file's name, and `events` with the number of events of each batch.
 *
 * An input that fails is merged up to its fault, and the others to their end; then comes its error, with its name. Without
 * any event, as when a file is of no known format, the error comes at once. The stream fails with a `NoOrderError` when no
 * order was asked for, and the events have none.
 */
export function mergeInputs(inputs: readonly MergeInput[], options: MergeInputsOptions = {}): MergedStream {
  return merged(inputs, (lanes, stream) => interleave(lanes, options, stream))
}

/**
 * A Readable of `EventBatch` objects: the traces of several files, one after the other; as in `mergeInputs` otherwise. It ends
 * with the first that fails: whatever came behind would make that one look whole.
 */
export function concatInputs(inputs: readonly MergeInput[]): MergedStream {
  return merged(inputs, concatenate)
}

/** An input that is read. */
interface Source {
  name: string
  trace: OpenTrace
  stage: BatchTransform | undefined
}

function merged(
  inputs: readonly MergeInput[], combine: (sources: Source[], stream: Readable) => AsyncGenerator<EventBatch>,
): MergedStream {
  const chunkBytes = Math.min(MAX_CHUNK_BYTES, Math.max(MIN_CHUNK_BYTES, Math.floor(CHUNKS_BYTES / inputs.length)))
  const sources = inputs.map(({ path, name = path, stage, ...options }): Source => {
    return { name, trace: openTrace(path, { chunkBytes, ...options }), stage }
  })
  const run = async function* (stream: Readable): AsyncGenerator<EventBatch> {
    for (const { name, trace } of sources) trace.on('warning', (text: string) => stream.emit('warning', `${name}: ${text}`))
    for await (const batch of combine(sources, stream)) {
      stream.emit('events', batch.count)
      yield batch
    }
  }
  const release = () => sources.forEach(({ trace }) => trace.close())
  const bytesRead = () => sources.reduce((sum, { trace }) => sum + trace.bytesRead(), 0)
  return Object.assign(sourceStream(run, release), { bytesRead })
}

async function* concatenate(sources: Source[]): AsyncGenerator<EventBatch> {
  for (const source of sources) {
    for (let batch = await read(source); batch !== undefined; batch = await read(source)) yield batch
  }
}

async function* interleave(sources: Source[], options: MergeInputsOptions, stream: Readable): AsyncGenerator<EventBatch> {
  const heads = await Promise.all(sources.map(readHead))
  const by = options.by ?? orderOf(heads.flatMap(({ batches }) => batches))
  const merger = new Merger(sources.map(({ name }) => name), { ...options, by })
  let failure: Error | undefined
  heads.forEach(({ batches, error, ended }, input) => {
    for (const batch of batches) merger.feed(input, batch)
    failure ??= error
    if (ended) merger.end(input)
  })
  let told = 0
  for (;;) {
    for (let batch = merger.next(); batch !== null; batch = merger.next()) yield batch
    while (told < merger.warnings.length) stream.emit('warning', merger.warnings[told++])
    const input = merger.wants()
    if (input < 0) break
    try {
      const batch = await read(sources[input] as Source)
      if (batch === undefined) merger.end(input)
      else merger.feed(input, batch)
    } catch (error) {
      failure ??= error as Error
      merger.end(input)
    }
  }
  if (failure !== undefined) throw failure
}

/** The next batch of an input; undefined at its end. @throws what the input fails with, with its name */
async function read({ name, trace, stage }: Source): Promise<EventBatch | undefined> {
  try {
    const { done, value } = await trace.batches.next()
    if (done === true || stage === undefined) return value as EventBatch | undefined
    stage.feed(value)
    return stage.next() ?? new EventBatch(0, 0, value.header)
  } catch (error) {
    throw named(error as NodeJS.ErrnoException, name)
  }
}

/** What comes first of an input, up to its first events. */
interface Head {
  batches: EventBatch[]
  ended: boolean
  /** What it failed with behind these. */
  error?: Error
}

/** @throws what the input fails with before it gave anything */
async function readHead(source: Source): Promise<Head> {
  const batches: EventBatch[] = []
  for (;;) {
    try {
      const batch = await read(source)
      if (batch === undefined) return { batches, ended: true }
      batches.push(batch)
      if (batch.count > 0) return { batches, ended: false }
    } catch (error) {
      if (batches.length === 0) throw error
      return { batches, ended: true, error: error as Error }
    }
  }
}

/** The order that events have: by sequence number, else by time. @throws NoOrderError */
function orderOf(batches: readonly EventBatch[]): MergeOrder {
  for (const { mask, count } of batches) {
    const fields = mask.subarray(0, count).reduce((all, one) => all | one, 0)
    if ((fields & fieldSet('sequence', 'time')) !== 0) return (fields & Has.sequence) !== 0 ? 'sequence' : 'time'
  }
  throw new NoOrderError('the events have neither sequence numbers nor times')
}

/** An error that says in which input it was found. */
function named(error: NodeJS.ErrnoException, name: string): Error {
  // Failed system calls have the file's name apart, but not all of them.
  if (error.syscall !== undefined) error.path ??= name
  else error.message = `${name}: ${error.message}`
  return error
}
