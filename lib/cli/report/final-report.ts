import { SpacesError } from '../../blocks/address-spaces.js'
import type { EventBatch } from '../../event/batch.js'
import type { TraceHeader } from '../../event/header.js'
import type { Stage } from '../../event/stage.js'

/** Takes the events of one trace of a stream, or of all, and gives a report when they end, or are truncated. */
export abstract class FinalReport implements Stage<EventBatch, Uint8Array> {
  readonly warnings: string[] = []
  readonly consumes = true
  /** The number of traces so far: another header begins another one. */
  protected traces = 0
  private header: TraceHeader | undefined
  private ending: 'end' | 'endTruncated' | undefined
  private failure: SpacesError | undefined
  private pieces: Iterator<Uint8Array> | undefined

  /** @param trace the number of the trace, from 1; undefined for all */
  constructor(private readonly trace: number | undefined) {}

  /** Takes events of the trace. */
  protected abstract add(batch: EventBatch): void

  /** The report, in pieces. @param isWhole whether the trace was read to its end */
  protected abstract report(isWhole: boolean): Iterable<Uint8Array>

  feed(batch: EventBatch): void {
    if (batch.header !== this.header) {
      this.header = batch.header
      this.traces++
    }
    if (this.trace !== undefined && this.traces !== this.trace) return
    try {
      this.add(batch)
    } catch (error) {
      this.fail(error)
    }
  }

  /** Ends the trace at blocks that look alike: that error follows the report. @throws any other error */
  protected fail(error: unknown): void {
    if (!(error instanceof SpacesError)) throw error
    this.failure = error
    this.endTruncated()
  }

  /**
   * @throws Error when the stream has ended without the trace that was chosen
   * @throws SpacesError when blocks cannot be distinguished, after the report on the events before that one
   */
  next(): Uint8Array | null {
    this.pieces ??= this.piecesAtEnd()
    const piece = this.pieces?.next().value
    if (piece === undefined && this.failure !== undefined) throw this.failure
    return piece ?? null
  }

  end(): void {
    this.ending = 'end'
  }

  endTruncated(): void {
    this.ending = 'endTruncated'
  }

  /** The report, once the batches have ended. */
  private piecesAtEnd(): Iterator<Uint8Array> | undefined {
    const { ending, trace, traces } = this
    if (ending === undefined) return undefined
    this.ending = undefined
    if (trace !== undefined && traces < trace && ending === 'end')
      throw new Error(`there is no trace ${trace}: the input has ${traces}`)
    // If nothing could be read, there is nothing to report.
    if (ending === 'endTruncated' && traces < (trace ?? 1)) return undefined
    // A trace that is followed by another one was read to its end.
    return this.report(ending === 'end' || (trace !== undefined && traces > trace))[Symbol.iterator]()
  }
}
