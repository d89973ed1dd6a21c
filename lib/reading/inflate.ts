import type { MemberInflater } from '../compression/gunzip.js'
import { foreignCompression, isGzip, isXz, isZip, isZstd, MAGIC_BYTES } from '../compression/magic.js'
import type { NewFrameInflater } from '../compression/zstd-inflaters.js'
import { TraceError } from '../event/error.js'
import { peek } from './peek.js'
import { runStage, type Warn } from './run-stage.js'
import { tolerateTruncation } from './truncation.js'

/** The inflaters for which there are alternatives, loaded on demand. */
export interface Inflaters {
  gzip(): Promise<MemberInflater>
  zstd(): Promise<NewFrameInflater>
}

/**
 * Inflates gzip, zstd, xz and zip; all other bytes pass unchanged.
 * @param onTruncated called if the archive is truncated; the bytes then end where the archive does
 * @throws TraceError for a truncated or corrupt archive, with the offset in the compressed bytes, and for other
 *   compression
 */
export async function* inflate(
  source: AsyncIterable<Uint8Array>,
  inflaters: Inflaters,
  warn: Warn,
  onTruncated?: (error: TraceError) => void,
): AsyncGenerator<Uint8Array> {
  const { head, whole } = await peek(source, MAGIC_BYTES)
  try {
    if (isGzip(head)) {
      const { gunzip } = await import('../compression/gunzip.js')
      yield* tolerateTruncation(gunzip(whole, await inflaters.gzip()), onTruncated)
    } else if (isZip(head)) {
      const { Unzip } = await import('../compression/unzip.js')
      yield* tolerateTruncation(runStage(new Unzip(), whole, warn), onTruncated)
    } else if (isZstd(head)) {
      const { unzstd } = await import('../compression/unzstd.js')
      yield* tolerateTruncation(unzstd(whole, await inflaters.zstd()), onTruncated)
    } else if (isXz(head)) {
      const { unxz } = await import('../compression/unxz.js')
      yield* tolerateTruncation(unxz(whole), onTruncated)
    } else {
      const foreign = foreignCompression(head)
      if (foreign !== undefined) throw unread(foreign)
      yield* whole
    }
  } finally {
    // It has not been read if its compression was refused.
    await whole.return()
  }
}

/** The error for compression that cannot be inflated here. */
function unread({ name, command }: NonNullable<ReturnType<typeof foreignCompression>>): TraceError {
  const reason = `compressed with ${name}, which heapflow does not read: decompress it first (${command} FILE | ...)`
  return new TraceError('ERR_TRACE_UNKNOWN_FORMAT', reason, { format: name, offset: 0 })
}
