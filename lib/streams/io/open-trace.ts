import { EventEmitter } from 'node:events'
import { fileURLToPath } from 'node:url'
import { addAbortSignal, type Readable } from 'node:stream'
import type { EventBatch } from '../../event/batch.js'
import { nameInput, wrongType } from '../../event/error.js'
import { FORMAT } from '../../event/format.js'
import { showValue } from '../../event/message-text.js'
import { checkOptions, OBJECT, SIGNAL, wholeNumber, type OptionNames } from '../../event/options.js'
import { closed } from '../closed.js'
import { eventCounter } from '../event-counter.js'
import { decodeBytes, type DecodeAnyOptions } from '../decode-bytes.js'
import { inflateOnNode } from '../inflate-bytes.js'
import { turns } from '../turns.js'
import { openInput } from './stdio.js'

/** A source of events. */
export interface TraceReader {
  /** The events. They are read on demand. */
  readonly batches: AsyncGenerator<EventBatch, void, void>
  /** The number of bytes read so far. */
  bytesRead(): number
  /** Closes the source. Pending reads get their events or an error. Resolves when the source is closed. */
  close(): Promise<void>
}

/** The largest number of bytes to read at a time. */
const MAX_CHUNK = 1 << 30

/**
 * A file of events that is being read: an async iterable of its batches. The file is opened when the first batch is
 * requested, and closed at the end, by `break`, by a fault, by `close` and by `signal`.
 */
export interface OpenTrace extends TraceReader, EventEmitter, AsyncIterable<EventBatch>, AsyncDisposable {}

/** Options of `openTrace`. */
export interface OpenOptions extends Omit<DecodeAnyOptions, 'path' | 'through'> {
  /** The number of bytes to read at a time. Default 262144. */
  chunkBytes?: number
  /** Closes the file when aborted; pending and later reads get an AbortError. */
  signal?: AbortSignal
}

/** What the options may be. */
export const OPEN_OPTIONS: OptionNames<OpenOptions> = {
  chunkBytes: wholeNumber(1, MAX_CHUNK),
  decode: OBJECT,
  format: FORMAT,
  onTruncated: 'function',
  onFormat: 'function',
  recycle: 'boolean',
  signal: SIGNAL,
}

/** The path of a file. @throws TypeError for a URL of something else, and for what is no path */
export function filePath(file: string | URL): string {
  if (file instanceof URL) return fileURLToPath(file)
  if (typeof file !== 'string') throw wrongType(`a file is a path or a URL, not ${showValue(file)}`)
  return file
}

/**
 * Reads a file, or standard input for `-`, of any format, compressed or not. Emits `warning` with a text.
 *
 * @example
 * for await (const batch of openTrace('app.mtrc.gz')) console.log(batch.count)
 *
 * @throws RangeError for unknown options. Faults of the file, which have its path, are thrown by the iteration
 */
export function openTrace(file: string | URL, options: OpenOptions = {}): OpenTrace {
  checkOptions(options, OPEN_OPTIONS, 'openTrace')
  const path = filePath(file)
  const { chunkBytes, ...reading } = options
  return readTrace(path, () => openInput(path, chunkBytes), reading, true)
}

/**
 * The same for bytes from another source.
 * @param path the name of the source
 * @param open is called when the first batch is requested
 * @param isNamed whether errors about the contents name the source
 */
export function readTrace(
  path: string,
  open: () => Readable,
  options: Omit<OpenOptions, 'chunkBytes'>,
  isNamed = false,
): OpenTrace {
  const { signal, ...reading } = options
  const trace = new EventEmitter()
  let input: Readable | undefined
  /** Closes other files than the input. */
  const closer = new AbortController()
  const release = () => closer.abort()
  let isClosed = false
  const read = async function* (): AsyncGenerator<EventBatch, void, void> {
    if (isClosed) throw new Error(`${path} is closed`)
    throwIfAborted(signal)
    input = open()
    // The consumer receives the error; until then it must not count as unhandled.
    input.on('error', () => {})
    if (signal !== undefined) addAbortSignal(signal, input)
    signal?.addEventListener('abort', release)
    try {
      const inflated = inflateOnNode(
        input as AsyncIterable<Buffer>,
        reading.onTruncated ? { onTruncated: reading.onTruncated } : {},
        trace,
      )
      const counter = eventCounter(trace)
      const turn = turns()
      for await (const batch of decodeBytes(inflated, { ...reading, path }, trace, counter, closer.signal)) {
        yield batch
        // There may be more in memory.
        await turn()
        throwIfAborted(signal)
      }
    } catch (error) {
      // A source that was closed because of the signal may fail in another way.
      throwIfAborted(signal)
      if (isNamed) nameInput(error, path)
      throw error
    } finally {
      signal?.removeEventListener('abort', release)
      // Not awaited, because a pending read from a pipe may take any time.
      input.destroy()
    }
  }
  const batches = read()
  const close = async (): Promise<void> => {
    isClosed = true
    // Nothing may be read any more.
    signal?.removeEventListener('abort', release)
    release()
    if (input !== undefined) await closed(input.destroy())
  }
  return Object.assign(trace, {
    batches,
    bytesRead: () => (input as { bytesRead?: number } | undefined)?.bytesRead ?? 0,
    close,
    [Symbol.asyncIterator]: () => batches,
    [Symbol.asyncDispose]: close,
  })
}

/** @throws the error that Node's own streams have, if a signal is aborted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortError(signal)
}

/** The error that Node's own streams have when a signal is aborted. */
export function abortError(signal: AbortSignal): Error {
  const error = new Error('The operation was aborted', { cause: signal.reason })
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' })
}
