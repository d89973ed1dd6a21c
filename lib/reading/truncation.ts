import type { EventBatch } from '../event/batch.js'
import { TraceError } from '../event/error.js'
import type { Decoder } from '../event/stage.js'

/** Called if an input is truncated. */
type OnCut = (error: TraceError) => void

/**
 * Yields results. If the input is truncated and `onTruncated` is given, calls it and ends normally instead of throwing.
 */
export async function* tolerateTruncation<T>(
  results: AsyncIterable<T>,
  onTruncated: OnCut | undefined,
): AsyncGenerator<T> {
  try {
    yield* results
  } catch (error) {
    if (onTruncated === undefined || !isCut(error)) throw error
    onTruncated(error)
  }
}

/** A decoder for which a truncated trace ends normally. */
export class TolerantDecoder implements Decoder {
  private isOver = false

  constructor(
    private readonly decoder: Decoder,
    private readonly onTruncated: OnCut,
  ) {}

  get warnings(): readonly string[] {
    return this.decoder.warnings ?? []
  }

  feed(chunk: Uint8Array): void {
    if (!this.isOver) this.decoder.feed(chunk)
  }

  next(): EventBatch | null {
    if (this.isOver) return null
    try {
      return this.decoder.next()
    } catch (error) {
      if (!isCut(error)) throw error
      this.isOver = true
      this.onTruncated(error)
      return null
    }
  }

  end(): void {
    if (!this.isOver) this.decoder.end()
  }

  endTruncated(): void {
    if (!this.isOver) this.decoder.endTruncated()
  }

  detach(): void {
    this.decoder.detach?.()
  }

  dispose(): void {
    this.decoder.dispose?.()
  }
}

function isCut(error: unknown): error is TraceError {
  return error instanceof TraceError && error.code === 'ERR_TRACE_TRUNCATED'
}
