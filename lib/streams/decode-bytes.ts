import type { EventEmitter } from 'node:events'
import { withoutMark } from '../text/byte-order-mark.js'
import { loadFormat, sniffFormat, type FormatEntry } from '../formats/index.js'
import { EventBatch } from '../event/batch.js'
import { chain } from '../event/chain.js'
import type { TraceError } from '../event/error.js'
import { NO_HEADER } from '../event/header.js'
import type { Stage } from '../event/stage.js'
import type { Format } from '../event/format.js'
import type { ReadOptions } from './event-counter.js'
import { peek, type Peeked } from '../reading/peek.js'
import { runStage } from '../reading/run-stage.js'
import { HEAD_BYTES, recognize } from '../reading/recognize.js'
import { TolerantDecoder, tolerateTruncation } from '../reading/truncation.js'
import { misreading } from './misread.js'
import { warningsOn } from './warnings-on.js'

/** The first bytes of Meta-TF, in ASCII and in binary. */
const HASH = 0x23
const DELETE = 0x7f

/** An empty trace, in formats without a header. */
async function* nothing(): AsyncGenerator<EventBatch> {
  yield new EventBatch(0, 0, NO_HEADER)
}
const EMPTY =
  'the input is empty: a trace without events in a format without a header, or nothing because the writer failed'

/** Options of `decodeAny`. */
export interface DecodeAnyOptions extends ReadOptions {
  /** The format, if known. Default: recognized by the first bytes. */
  format?: Format | FormatEntry
  /**
   * The file that the bytes come from, or `-` for standard input. A trace in Meta-TF names a DTD, which is searched
   * beside it, in the folders of the environment variable HEAPFLOW_DTD_PATH, and among heapflow's own DTDs.
   */
  path?: string
  /** Options for the decoder of the format that is found. */
  decode?: object
  /** Called once the format is known. */
  onFormat?: (format: Format) => void
  /**
   * Called if the trace is truncated. The stream then ends where the trace does, without an error. For compressed
   * input, `decompress` has the same option.
   */
  onTruncated?: (error: TraceError) => void
}

/**
 * The events of the bytes of any format (inflated), without a stream around it.
 * @param stream warnings are emitted on it
 * @param last the stage that all events go through
 * @param closed is aborted when no more events are needed
 */
export async function* decodeBytes<Out>(
  source: AsyncIterable<Uint8Array>,
  options: DecodeAnyOptions,
  stream: EventEmitter,
  last: Stage<EventBatch, Out>,
  closed?: AbortSignal,
): AsyncGenerator<Out> {
  const first = await peek(source, HEAD_BYTES)
  if (first.head.length === 0 && first.failure === undefined && options.format === undefined) {
    await first.whole.return()
    yield* runStage(last, nothing(), warningsOn(stream))
    stream.emit('warning', EMPTY)
    return
  }
  let found: Found
  try {
    found = await find(first, options)
  } catch (error) {
    await first.whole.return()
    throw error
  }
  const { format, decode, close, head, whole } = found
  const { onTruncated, recycle = false } = options
  const reasonFor = options.format === undefined ? undefined : misreading(head)
  try {
    options.onFormat?.(format)
    if (format.fromFile === true && options.path !== undefined && options.path !== '-') {
      const { readParquet } = await import('./io/parquet-file.js')
      const warn = warningsOn(stream)
      const events = tolerateTruncation(readParquet(options.path, warn, closed), onTruncated)
      yield* runStage(last, events, warn, recycle)
      // The file was opened twice; the first stream is no longer needed.
      for await (const _ of whole) continue
    } else {
      const decoder = format.decoder(decode)
      if (last.countsInfos === true) decoder.giveInfos?.()
      yield* runStage(
        chain(onTruncated === undefined ? decoder : new TolerantDecoder(decoder, onTruncated), last, { recycle }),
        whole,
        warningsOn(stream),
        recycle,
      )
    }
  } catch (error) {
    throw reasonFor === undefined ? error : await reasonFor(error, format.name, format.title)
  } finally {
    close?.()
  }
}

/** A stream whose format is known, and the stage that reads it. */
interface Found extends Pick<Peeked, 'head' | 'whole'> {
  readonly format: Format
  readonly decode?: object | undefined
  /** Call this when it was read. */
  close?(): void
}

async function find(first: Peeked, { format, decode, path }: DecodeAnyOptions): Promise<Found> {
  if (format !== undefined) return { ...first, format: await loadFormat(format), decode }
  const [one, two] = withoutMark(first.head)
  const mayNameDtd = one === DELETE || (one === HASH && two === HASH)
  if (!mayNameDtd) return { ...first, format: await recognize(first), decode }
  const { isAnnounced, isTelling } = await import('../metatf/dtd-name.js')
  const peeked = await peek(first.whole, isTelling)
  const { head, failure } = peeked
  // A known format may have an option for information that Meta-TF has as text.
  const isKnown = withoutMark(head)[0] === HASH && (await sniffFormat(head)) !== undefined
  if (isKnown || !isAnnounced(head)) return { ...peeked, format: await recognize(peeked), decode }
  return {
    ...peeked,
    ...(await import('./metatf.js')).recognizeMetaTf(head, path === undefined ? {} : { path }, failure),
  }
}
