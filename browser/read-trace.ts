import { fzstdInflater } from '../lib/compression/zstd-inflaters.js'
import type { EventBatch } from '../lib/event/batch.js'
import type { Format } from '../lib/event/format.js'
import { checkOptions, type OptionNames } from '../lib/event/options.js'
import { inflate, type Inflaters } from '../lib/reading/inflate.js'
import { peek } from '../lib/reading/peek.js'
import { HEAD_BYTES, recognize } from '../lib/reading/recognize.js'
import { runStage } from '../lib/reading/run-stage.js'
import { browserMember } from './gunzip.js'

/** Where a trace comes from in a browser: a file that was chosen or dropped, the body of a response, or bytes. */
export type BrowserSource = Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** Options of `readTrace`. */
export interface ReadTraceOptions {
  /** The format, if known. Default: recognized by the first bytes. */
  readonly format?: Format
  /** Ends reading with the reason of the signal, and closes the source. */
  readonly signal?: AbortSignal
  /** Called once the format is known. */
  readonly onFormat?: (format: Format) => void
  /** Called with what is odd, but no error: a sentence. */
  readonly onWarning?: (text: string) => void
  /** Called with the number of bytes that were read so far, as they come from the source. */
  readonly onProgress?: (bytes: number) => void
}

const OPTIONS: OptionNames<ReadTraceOptions> = {
  format: true,
  signal: true,
  onFormat: true,
  onWarning: true,
  onProgress: true,
}

/** Decoders are fed pieces of at most this many bytes: see "Stages" in docs/architecture.md. */
const SLICE_BYTES = 65_536

const INFLATERS: Inflaters = {
  gzip: async () => browserMember,
  zstd: async () => fzstdInflater(await import('fzstd')),
}

/**
 * The events of a trace of any format, compressed or not, batch by batch: `decompress` and `decodeAny` for programs in
 * a browser. The source is closed at the end, by `break`, by an error and by `signal`.
 *
 * @example
 * for await (const batch of readTrace(file)) statistics.add(batch)
 *
 * @throws RangeError for unknown options; while iterating, TraceError and the errors of the source, after all events
 *   before the fault
 */
export async function* readTrace(
  source: BrowserSource,
  options: ReadTraceOptions = {},
): AsyncGenerator<EventBatch, void, void> {
  checkOptions(options, OPTIONS, 'readTrace')
  const warn = options.onWarning ?? (() => {})
  const first = await peek(inflate(slices(source, options), INFLATERS, warn), HEAD_BYTES)
  try {
    const format = options.format ?? (await recognize(first))
    options.onFormat?.(format)
    yield* runStage(format.decoder(), first.whole, warn)
  } finally {
    await first.whole.return()
  }
}

async function* slices(source: BrowserSource, { signal, onProgress }: ReadTraceOptions): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of chunksOf(source)) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      signal?.throwIfAborted()
      const slice = chunk.subarray(at, at + SLICE_BYTES)
      yield slice
      bytes += slice.length
      onProgress?.(bytes)
    }
  }
}

async function* chunksOf(source: BrowserSource): AsyncGenerator<Uint8Array> {
  if (source instanceof Uint8Array) return yield source
  if (!(source instanceof Blob) && !('getReader' in source)) return yield* source
  // Not every browser has streams that can be iterated.
  const reader = (source instanceof Blob ? source.stream() : source).getReader()
  let isOpen = true
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
    isOpen = false
  } finally {
    if (isOpen) await reader.cancel()
  }
}
