import { tmpdir } from 'node:os'
import { addAbortSignal, type Readable } from 'node:stream'
import { reviseBatch, type EventBatch } from '../event/batch.js'
import { asError, FormatFault, inputName, nameInput, TraceError } from '../event/error.js'
import { fieldSet, FieldBit, Kind } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'
import { checkNeededOptions, checkOptions, SIGNAL, type OptionNames } from '../event/options.js'
import type { BatchTransform } from '../event/stage.js'
import { MERGE_OPTIONS, Merger, type MergeOptions } from '../transforms/merge.js'
import { MAGIC } from '../formats/compact/layout.js'
import { PartMerger, partsOfOne } from '../transforms/merge-parts.js'
import type { MergeOrder } from '../order/order-check.js'
import { runStage } from '../reading/run-stage.js'
import { givesEvents } from './gives-events.js'
import { OPEN_OPTIONS, readTrace, type OpenOptions, type TraceReader } from './io/open-trace.js'
import { beginsWith, mayWait } from './io/file-status.js'
import { Spool } from './io/spool.js'
import { openInput } from './io/stdio.js'
import { TemporaryFileError } from './io/temporary-error.js'
import { sourceStream } from './source-stream.js'
import type { EventReadable } from './types.js'

/**
 * Read size shared by all inputs. Each gets an equal part, at least `MIN_CHUNK_BYTES` and at most the usual read size.
 */
const CHUNKS_BYTES = 262_144
const MIN_CHUNK_BYTES = 4096
const MAX_CHUNK_BYTES = 65_536

/**
 * With more compact files than this, all of them are first decoded to a temporary file, because each decoder takes 15
 * to 25 MB.
 */
const MAX_COMPACT = 8

/** One of the files to merge. */
export interface MergeInput extends OpenOptions {
  /** The file, or `-` for standard input. */
  readonly path: string
  /** A stream to read instead of the file, which `path` then only names. It emits its warnings itself. */
  readonly reader?: TraceReader
  /** Its name in warnings and errors. Default: the path. */
  readonly name?: string
  /** A stage for its events before they are merged. */
  readonly stage?: BatchTransform
}

/** Options of `mergeInputs`. */
export interface MergeInputsOptions extends Omit<MergeOptions, 'by'> {
  /**
   * The field that determines the order. Default: sequence numbers if the first events of the inputs have them,
   * otherwise times.
   */
  readonly by?: MergeOrder
  /** Ends the stream with an AbortError, and closes all files. */
  readonly signal?: AbortSignal
}

/** What these may be. */
export const MERGE_INPUTS_OPTIONS: OptionNames<MergeInputsOptions> = { ...MERGE_OPTIONS, signal: SIGNAL }

const INPUT: OptionNames<MergeInput> = { ...OPEN_OPTIONS, path: 'string', reader: true, name: 'string', stage: true }

/** A stream of the events of several files. */
export interface MergedStream extends EventReadable {
  /** The number of bytes of all files read so far. */
  bytesRead(): number
}

/**
 * A Readable of `EventBatch` objects: the events of several files merged by time or sequence number, as `Merger` says.
 * Emits `warning` with a text that begins with the file's name, and `events` with the number of events of each batch.
 *
 * An input that fails is merged up to its fault, and the others to their end; then the stream fails with the error,
 * which names the input. Errors of further inputs are warnings. An input that fails before its first event, for example
 * a file of an unknown format, fails the stream at once. The stream fails with ERR_TRACE_NO_ORDER if no order was
 * requested and the events have none, and with ERR_TRACE_TOO_MANY_FILES, before it delivers any events, if not all
 * files can be open at once.
 */
export function mergeInputs(inputs: readonly MergeInput[], options: MergeInputsOptions = {}): MergedStream {
  checkOptions(options, MERGE_INPUTS_OPTIONS, 'mergeInputs')
  checkInputs(inputs, 'mergeInputs')
  const run: Combine = (sources, stream) => interleave(sources, options, stream)
  const compact = inputs.filter(isCompact)
  if (compact.length <= MAX_COMPACT) return merged(inputs, options.signal, run)
  const spool = new Spool(tmpdir())
  const stream = merged(inputs, options.signal, run, (input) => (compact.includes(input) ? spool : undefined))
  return stream.once('close', () => void spool.close().catch(() => {}))
}

/**
 * A Readable of `EventBatch` objects: the traces of several files, one after the other, each opened when it is needed;
 * otherwise as in `mergeInputs`. It ends at the first input that fails, because events of later inputs would make that
 * one look complete.
 */
export function concatInputs(
  inputs: readonly MergeInput[],
  options: Pick<MergeInputsOptions, 'signal'> = {},
): MergedStream {
  checkOptions(options, { signal: SIGNAL }, 'concatInputs')
  checkInputs(inputs, 'concatInputs')
  return merged(inputs, options.signal, concatenate)
}

function checkInputs(inputs: readonly MergeInput[], of: string): void {
  for (const [i, input] of inputs.entries()) checkNeededOptions(input, INPUT, `${of}: input ${i + 1}`)
}

/** The way in which the events of several inputs become one stream. */
type Combine = (sources: readonly Source[], stream: Readable) => AsyncGenerator<EventBatch>

/** An input, opened when it is first read. */
class Source {
  private trace: TraceReader | undefined
  private batches: AsyncIterator<EventBatch> | undefined
  private isClosed = false

  constructor(
    private readonly input: MergeInput,
    private readonly chunkBytes: number,
    private readonly stream: () => Readable,
    private readonly spool?: Spool,
  ) {}

  /** Its name in messages. */
  get name(): string {
    return this.input.name ?? inputName(this.input.path)
  }

  /** Whether it may keep its reader waiting, as a pipe does. */
  get mayWait(): boolean {
    return this.input.reader !== undefined || mayWait(this.input.path)
  }

  bytesRead(): number {
    return this.trace?.bytesRead() ?? 0
  }

  /** The next batch; undefined at the end. @throws the input's error, with its name */
  async read(): Promise<EventBatch | undefined> {
    try {
      this.batches ??= this.start()
      const { done, value } = await this.batches.next()
      return done === true ? undefined : value
    } catch (error) {
      throw named(asError(error), this.name)
    }
  }

  close(): void {
    this.isClosed = true
    void (this.trace ?? this.input.reader)?.close()
  }

  private start(): AsyncIterator<EventBatch> {
    const { stage } = this.input
    const { batches } = this.open()
    const read = this.spool?.through(batches) ?? batches
    return stage === undefined ? read : runStage(stage, read, (text) => this.warn(text))
  }

  private warn(text: string): void {
    this.stream().emit('warning', `${this.name}: ${text}`)
  }

  private open(): TraceReader {
    if (this.trace !== undefined) return this.trace
    // Nothing else would close the input.
    if (this.isClosed) throw new Error('the stream is closed')
    const { path, name: _name, stage: _stage, reader, ...options } = this.input
    if (reader !== undefined) return (this.trace = reader)
    const { chunkBytes = this.chunkBytes, ...reading } = options
    const trace = readTrace(path, () => openInput(path, chunkBytes), reading)
    trace.on('warning', (text: string) => this.warn(text))
    return (this.trace = trace)
  }
}

function merged(
  inputs: readonly MergeInput[],
  signal: AbortSignal | undefined,
  combine: Combine,
  spoolOf: (input: MergeInput) => Spool | undefined = () => undefined,
): MergedStream {
  const chunkBytes = Math.min(MAX_CHUNK_BYTES, Math.max(MIN_CHUNK_BYTES, Math.floor(CHUNKS_BYTES / inputs.length)))
  const sources = inputs.map((input) => new Source(input, chunkBytes, () => stream, spoolOf(input)))
  const run = async function* (): AsyncGenerator<EventBatch> {
    for await (const batch of combine(sources, stream)) {
      stream.emit('events', batch.count)
      yield batch
    }
  }
  const opened = sourceStream(run, () => sources.forEach((source) => source.close()))
  const stream: Readable = givesEvents(opened, 'merge()')
  if (signal !== undefined) addAbortSignal(signal, stream)
  const bytesRead = () => sources.reduce((sum, source) => sum + source.bytesRead(), 0)
  return Object.assign(stream, { bytesRead }) as MergedStream
}

/** Whether an input is a file of the format compact. */
function isCompact({ path, reader }: MergeInput): boolean {
  return reader === undefined && path !== '-' && beginsWith(path, MAGIC)
}

async function* concatenate(sources: readonly Source[]): AsyncGenerator<EventBatch> {
  let last: TraceHeader | undefined
  for (const source of sources) {
    // Traces without headers all have the same one, and would be one trace.
    const before = last
    let own: TraceHeader | undefined
    for (let batch = await source.read(); batch !== undefined; batch = await source.read()) {
      if (batch.header === before) batch = reviseBatch(batch, 0, batch.strings, (own ??= { ...before }))
      last = batch.header
      yield batch
    }
    source.close()
  }
}

async function* interleave(
  sources: readonly Source[],
  options: MergeInputsOptions,
  stream: Readable,
): AsyncGenerator<EventBatch> {
  const failures = new Failures(stream)
  const heads = await readHeads(sources, failures)
  const names = sources.map(({ name }) => name)
  const parts = partsOfOne(heads.map(({ batches }) => batches[0]?.header))
  const merger =
    parts === 'numbered' && options.by !== 'time'
      ? new PartMerger(names.length)
      : new Merger(names, {
          by: options.by ?? orderOf(heads, parts),
          ...(options.window !== undefined && { window: options.window }),
        })
  const failed = new Set<number>()
  const fail = (input: number, error: Error): void => {
    failures.add(error)
    failed.add(input)
  }
  const end = (input: number): void => merger.end(input, !failed.has(input))
  const feed = (input: number, batch: EventBatch): void => {
    try {
      merger.feed(input, batch)
    } catch (error) {
      fail(input, named(asError(error), names[input]))
      end(input)
    }
  }
  heads.forEach(({ batches, error, ended }, input) => {
    for (const batch of batches) feed(input, batch)
    if (error !== undefined) fail(input, error)
    if (ended) end(input)
  })
  let emitted = 0
  for (;;) {
    for (let batch = merger.next(); batch !== null; batch = merger.next()) yield batch
    while (emitted < merger.warnings.length) stream.emit('warning', merger.warnings[emitted++])
    const input = merger.wants()
    if (input < 0) break
    const batch = await sources[input].read().catch((error: Error) => void fail(input, error))
    if (batch === undefined) end(input)
    else feed(input, batch)
  }
  failures.throwFirst()
}

/** Errors of inputs. Only one of them can be thrown. */
class Failures {
  private first: Error | undefined
  private readonly seen = new Set<Error>()

  constructor(private readonly stream: Readable) {}

  /** Records an error of one or more inputs. All errors except the first become warnings immediately. */
  add(error: Error): void {
    if (this.seen.has(error)) return
    this.seen.add(error)
    if (this.first === undefined) this.first = error
    else if (!this.stream.destroyed) this.stream.emit('warning', inWords(error))
  }

  /** @throws the first error, if there is one */
  throwFirst(): void {
    if (this.first !== undefined) throw this.first
  }
}

/** The beginning of an input, up to its first events. */
interface Head {
  batches: EventBatch[]
  ended: boolean
  /** The error after these events. */
  error?: Error
}

/**
 * The heads of all inputs.
 * @throws the error of an input that fails before its first events, and ERR_TRACE_TOO_MANY_FILES
 */
async function readHeads(sources: readonly Source[], failures: Failures): Promise<Head[]> {
  const heads = sources.map(readHead)
  try {
    const all = await Promise.all(heads)
    // If the format is known, an input has a header even if it could not be opened.
    const { error } = all.find((head) => isTooMany(head.error)) ?? {}
    if (error !== undefined) throw error
    return all
  } catch (error) {
    if (isTooMany(error)) throw tooManyFiles(sources.length, error)
    // Other files that fail can be reported too, but without waiting for a pipe.
    const others = await Promise.allSettled(heads.filter((_, i) => !sources[i].mayWait))
    failures.add(error as Error)
    for (const { status, reason } of others as PromiseRejectedResult[]) {
      if (status === 'rejected' && reason !== error) failures.add(reason as Error)
    }
    throw error
  }
}

/** @throws the error of the input if it fails before its first events */
async function readHead(source: Source): Promise<Head> {
  const batches: EventBatch[] = []
  for (;;) {
    try {
      const batch = await source.read()
      if (batch === undefined) return { batches, ended: true }
      batches.push(batch)
      if (batch.count > 0) return { batches, ended: false }
    } catch (error) {
      if (batches.length === 0) throw error
      return { batches, ended: true, error: error as Error }
    }
  }
}

/**
 * The order of the first events: by sequence number, otherwise by time. Traces may begin with events without a time,
 * such as events of blocks that existed before; then the unit of time decides. Without any events, or of one trace, any
 * order is right.
 * @throws TraceError (ERR_TRACE_NO_ORDER)
 */
function orderOf(heads: readonly Head[], parts: ReturnType<typeof partsOfOne>): MergeOrder {
  const batches = heads.flatMap((head) => head.batches).filter(({ count }) => count > 0)
  for (const { mask, count } of batches) {
    const fields = mask.subarray(0, count).reduce((all, one) => all | one, 0)
    if ((fields & fieldSet('sequence', 'time')) !== 0) return (fields & FieldBit.sequence) !== 0 ? 'sequence' : 'time'
  }
  if (heads.length === 1 || batches.length === 0) return 'time'
  if (batches.some((batch) => batch.header.timeUnit !== undefined && !hasRequests(batch))) return 'time'
  const parted = parts === undefined ? '' : 'the inputs are parts of one trace, without numbers, and '
  throw new TraceError('ERR_TRACE_NO_ORDER', `${parted}the events have neither sequence numbers nor times`)
}

/** Whether there are events of a program's calls. If these have no times, the trace has none. */
function hasRequests({ kind, count }: EventBatch): boolean {
  return kind.subarray(0, count).some((one) => one === Kind.alloc || one === Kind.free || one === Kind.realloc)
}

function isTooMany(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  return code === 'EMFILE' || code === 'ENFILE'
}

function tooManyFiles(files: number, cause: unknown): TraceError {
  const report = process.report?.getReport() as { userLimits?: { open_files?: { soft?: number | string } } } | undefined
  const limit = report?.userLimits?.open_files?.soft
  const allowed = limit === undefined ? 'the system allows' : `the system's limit of ${limit} (ulimit -n) allows`
  const reason = `${files} files are more than ${allowed} to be open at once: raise it, or merge them in parts`
  return new TraceError('ERR_TRACE_TOO_MANY_FILES', reason, undefined, { cause })
}

/** An error's message, with the file's name, which messages of failed system calls may lack. */
function inWords({ message, path }: NodeJS.ErrnoException): string {
  return path === undefined || message.includes(path) ? message : `${path}: ${message}`
}

/** An error that names its input, if it is one of the input. */
function named(error: NodeJS.ErrnoException, name: string): Error {
  if (error instanceof TemporaryFileError) return error
  // Most errors of failed system calls have the file's name as a property.
  if (error.syscall !== undefined) error.path ??= name
  else if (error instanceof TraceError || error instanceof FormatFault) nameInput(error, name)
  else error.message = `${name}: ${error.message}`
  return error
}
