import { EventEmitter } from 'node:events'
import type { EventBatch } from '../event/batch.js'
import { wrongType } from '../event/error.js'
import { showValue } from '../event/message-text.js'
import { FORMAT } from '../event/format.js'
import { checkOptions, OBJECT, SIGNAL, type OptionNames } from '../event/options.js'
import { recycle } from '../event/recycle.js'
import type { TraceEvent } from '../event/trace-event.js'
import { eventCounter } from './event-counter.js'
import { decodeBytes, type DecodeAnyOptions } from './decode-bytes.js'
import { inflateOnNode } from './inflate-bytes.js'
import { batchesIn, bytesOf, isBytes } from './intake.js'
import { abortError, filePath, openTrace, throwIfAborted, type TraceReader } from './io/open-trace.js'
import { turns } from './turns.js'

/** Bytes or events that arrive one after the other. Strings are text. */
type Chunks = Uint8Array | string | EventBatch | TraceEvent

/**
 * A source of events: the path or `file:` URL of a file (`-` is standard input), the bytes of a trace, a Blob, or a
 * stream (of Node or of the web) or any other iterable of bytes, batches or events. Bytes may be of any format,
 * compressed or not.
 */
export type TraceSource =
  string | URL | Uint8Array | ArrayBuffer | Blob | AsyncIterable<Chunks> | Iterable<Chunks> | NodeJS.ReadableStream

export interface ReadSourceOptions extends Pick<DecodeAnyOptions, 'format' | 'decode'> {
  /** Ends reading with an AbortError, and closes the source. */
  readonly signal?: AbortSignal
  /** Called with each warning, a sentence. */
  readonly onWarning?: (text: string) => void
}

/** Whether a value is a source from which a trace can be read. */
export function isSource(value: unknown): value is TraceSource {
  return typeof value === 'string' || value instanceof URL || isIterable(iterableOf(value))
}

/** What the options may be. */
export const READ_SOURCE_OPTIONS: OptionNames<ReadSourceOptions> = {
  format: FORMAT,
  decode: OBJECT,
  signal: SIGNAL,
  onWarning: 'function',
}

/**
 * The events of a trace, one after the other, as plain objects: the simple way to read a trace. The source is closed at
 * the end, by `break`, by an error and by `signal`.
 *
 * @example
 * for await (const event of events('app.mtrc.gz')) if (event.kind === 'alloc') console.log(event.size)
 *
 * @throws RangeError for unknown options; while iterating, TraceError (with the path of a file) and the errors of the
 *   source, after all events before the fault
 */
export function events(source: TraceSource, options: ReadSourceOptions = {}): AsyncGenerator<TraceEvent, void, void> {
  checkOptions(options, READ_SOURCE_OPTIONS, 'events')
  const { batches } = readSource(source, options)
  const { signal } = options
  const path = pathOf(source)
  return (async function* () {
    for await (const batch of batches) {
      for (let i = 0; i < batch.count; i++) {
        yield batch.event(i)
        throwIfAborted(signal)
      }
      // A file opened here has no other consumer of its batches.
      if (path !== undefined) recycle(batch)
    }
  })()
}

/** Reads a source of any kind. @throws TypeError for anything else */
export function readSource(source: TraceSource, options: ReadSourceOptions = {}): TraceReader {
  const { signal, onWarning, ...reading } = options
  if (typeof source === 'string' || source instanceof URL) {
    const trace = openTrace(source, { ...reading, ...(signal !== undefined && { signal }) })
    if (onWarning !== undefined) trace.on('warning', onWarning)
    return trace
  }
  const chunks = iterableOf(source)
  if (!isIterable(chunks))
    throw wrongType(
      `a trace is read from a path, bytes, a Blob, a stream or an iterable, not from ${showValue(source)}`,
    )
  const aborter = new AbortController()
  const abort = () => aborter.abort(signal?.reason)
  const emitter = new EventEmitter()
  if (onWarning !== undefined) emitter.on('warning', onWarning)
  const batches = (async function* (): AsyncGenerator<EventBatch, void, void> {
    // The listener is added here, so that a reader that is never used does not leave one.
    if (signal?.aborted === true) abort()
    signal?.addEventListener('abort', abort, { once: true })
    const input = abortable(chunks, aborter.signal)
    const turn = turns()
    try {
      const first = await input.next()
      // An empty source of bytes, which has no format.
      if (first.done === true)
        return yield* decodeBytes(input as AsyncGenerator<never>, reading, emitter, eventCounter(emitter))
      const all = (async function* () {
        yield first.value
        yield* input
      })()
      const read = isBytes(first.value)
        ? decodeBytes(
            inflateOnNode(bytesOf(all, 'a reader of bytes'), {}, emitter),
            reading,
            emitter,
            eventCounter(emitter),
          )
        : batchesIn(all, 'a reader of events', (text) => emitter.emit('warning', text))
      for await (const batch of read) {
        yield batch
        await turn()
        throwIfAborted(aborter.signal)
      }
    } finally {
      signal?.removeEventListener('abort', abort)
      await input.return()
    }
  })()
  return {
    batches,
    bytesRead: () => 0,
    async close() {
      aborter.abort()
      // Also closes the source if reading has not begun.
      void batches.next().catch(() => {})
    },
  }
}

/** The path of a source that is a file; undefined for any other. */
export function pathOf(source: TraceSource): string | undefined {
  return typeof source === 'string' || source instanceof URL ? filePath(source) : undefined
}

/** Bytes, Blobs and web streams as iterables of chunks; anything else unchanged. */
function iterableOf(source: unknown): unknown {
  if (source instanceof Uint8Array) return [source]
  if (source instanceof ArrayBuffer) return [new Uint8Array(source)]
  const stream = source instanceof Blob ? source.stream() : source
  return isWebStream(stream) ? { [Symbol.asyncIterator]: () => readerOf(stream) } : stream
}

function isWebStream(source: unknown): source is ReadableStream<unknown> {
  return typeof source === 'object' && source !== null && 'getReader' in source
}

/** Cancels the stream when it returns. The iterator that web streams have would wait for a pending chunk first. */
function readerOf(stream: ReadableStream<unknown>): AsyncIterator<unknown> {
  const reader = stream.getReader()
  return {
    async next() {
      const { done, value } = await reader.read()
      if (done) reader.releaseLock()
      // Chunks of a FileHandle are such.
      return { done, value: value instanceof ArrayBuffer ? new Uint8Array(value) : value } as IteratorResult<unknown>
    },
    async return() {
      await reader.cancel()
      reader.releaseLock()
      return { done: true, value: undefined }
    },
  }
}

function isIterable(source: unknown): source is AsyncIterable<Chunks> | Iterable<Chunks> {
  return typeof source === 'object' && source !== null && (Symbol.asyncIterator in source || Symbol.iterator in source)
}

/** Passes chunks on until a signal is aborted, which also ends a wait for one. Closes the source. */
async function* abortable<T>(
  source: AsyncIterable<T> | Iterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, void> {
  const chunks =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : (source[Symbol.iterator]() as Iterator<T>)
  // Each chunk has its own promise. A promise that lasts as long as the source would keep all chunks in memory.
  let abort: (error: Error) => void = () => {}
  let isOpen = true
  const close = () => {
    // Not awaited, because a pending chunk may never arrive.
    if (isOpen) void new Promise((resolve) => resolve(chunks.return?.())).catch(() => {})
    isOpen = false
  }
  // Nothing may be read after it, so it closes the source, too.
  const onAbort = () => {
    abort(abortError(signal))
    close()
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    for (;;) {
      const next = await new Promise<IteratorResult<T, unknown>>((resolve, reject) => {
        abort = reject
        if (signal.aborted) onAbort()
        else Promise.resolve(chunks.next()).then(resolve, reject)
      })
      if (next.done === true) {
        isOpen = false
        return
      }
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    close()
    if (signal.aborted) destroy(source, abortError(signal))
  }
}

/** Ends a Node stream, whose iterator cannot be closed while it waits. */
function destroy(source: object, error: Error): void {
  if (
    'destroy' in source &&
    typeof source.destroy === 'function' &&
    'on' in source &&
    typeof source.on === 'function'
  ) {
    source.on('error', () => {})
    source.destroy(error)
  }
}
