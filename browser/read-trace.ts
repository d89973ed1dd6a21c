import { kernelInflater } from '../lib/compression/zstd-inflaters.js'
import type { EventBatch } from '../lib/event/batch.js'
import { FORMAT, type Format } from '../lib/event/format.js'
import { checkOptions, SIGNAL, type OptionNames } from '../lib/event/options.js'
import { loadFormat, type FormatEntry } from '../lib/formats/index.js'
import { inflate, type Inflaters } from '../lib/reading/inflate.js'
import { peek } from '../lib/reading/peek.js'
import { HEAD_BYTES, recognize } from '../lib/reading/recognize.js'
import { runStage } from '../lib/reading/run-stage.js'
import { browserMember } from './gunzip.js'
import { slicesOf, type BrowserSource } from './source.js'

export type { BrowserSource }

/** Options of `readTrace`. */
export interface ReadTraceOptions {
  /** The format, if known. Default: recognized by the first bytes. */
  readonly format?: Format | FormatEntry
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
  format: FORMAT,
  signal: SIGNAL,
  onFormat: 'function',
  onWarning: 'function',
  onProgress: 'function',
}

const INFLATERS: Inflaters = {
  gzip: async () => browserMember,
  zstd: async () => kernelInflater(),
}

/**
 * The events of a trace of any format, compressed or not, batch by batch: `decompress` and `decodeAny` for programs in
 * a browser. The source is closed at the end, by `break`, by an error and by `signal`.
 *
 * @example
 * for await (const batch of readTrace(file)) statistics.add(batch)
 *
 * @throws RangeError for unknown options; while iterating, TypeError for what is no source, TraceError and the errors
 *   of the source, after all events before the fault. Parquet, whose index is at its end, is not read here.
 */
export function readTrace(
  source: BrowserSource,
  options: ReadTraceOptions = {},
): AsyncGenerator<EventBatch, void, void> {
  checkOptions(options, OPTIONS, 'readTrace')
  return batchesOf(source, options)
}

async function* batchesOf(source: BrowserSource, options: ReadTraceOptions): AsyncGenerator<EventBatch, void, void> {
  const warn = options.onWarning ?? (() => {})
  const first = await peek(inflate(slicesOf(source, options), INFLATERS, warn), HEAD_BYTES)
  try {
    const format = await (options.format === undefined ? recognize(first) : loadFormat(options.format))
    options.onFormat?.(format)
    yield* runStage(format.decoder(), first.whole, warn)
  } finally {
    await first.whole.return()
  }
}
