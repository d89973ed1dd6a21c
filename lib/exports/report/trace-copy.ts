import { KIB, MIB } from '../../bytes/units.js'
import type { EventBatch } from '../../event/batch.js'
import { recycle } from '../../event/recycle.js'
import { CompactEncoder } from '../../formats/compact/encode.js'

/** A copy of this share of the limit shows what the whole one would take. */
const ENOUGH = 1 / 8
/** The rest of a trace is expected to take at least this share of what the same part of the input took so far. */
const LEAST_REST = 1 / 3

/**
 * A copy of a trace in the compact format, for the page of its report, as long as it is small. It is of the fast level:
 * the other one would more than halve the speed of a report. Memory: that of the encoder, and at most the limit; none
 * from when the limit is exceeded, or as good as certain to be.
 */
export class TraceCopy {
  /** Why there is no copy, as a sentence; undefined if there is one. */
  reason: string | undefined
  private encoder: CompactEncoder | undefined = new CompactEncoder({ fast: true })
  private chunks: Uint8Array[] = []
  private size = 0

  /**
   * @param most the maximum number of bytes
   * @param shareRead how much of the input was read, from 0 to 1; undefined if that is not known
   */
  constructor(
    private readonly most: number,
    private readonly shareRead: () => number | undefined = () => undefined,
  ) {}

  /** Takes the events of a batch. If there is no copy any more, does nothing. */
  add(batch: EventBatch): void {
    this.run((encoder) => encoder.feed(batch))
    if (this.encoder !== undefined && this.size >= ENOUGH * this.most) this.judge(this.shareRead() ?? 1)
  }

  /**
   * The bytes of the copy, in pieces, which are a truncated trace if the input was. They are kept no longer.
   * @param complete whether the input was read to its end
   * @returns undefined if there is no copy: `reason` says why
   */
  finish(complete: boolean): Uint8Array[] | undefined {
    this.run((encoder) => (complete ? encoder.end() : encoder.endTruncated()))
    const { chunks } = this
    this.discard()
    return this.reason === undefined ? chunks : undefined
  }

  private run(step: (encoder: CompactEncoder) => void): void {
    const { encoder } = this
    if (encoder === undefined) return
    try {
      step(encoder)
      for (let chunk = encoder.next(); chunk !== null; chunk = encoder.next()) {
        this.size += chunk.length
        if (this.size > this.most) {
          this.drop(`as a compact trace it has more than ${sizeText(this.most)}. hf-report --embed SIZE sets the limit`)
          return
        }
        // The memory of a chunk is larger than the chunk.
        this.chunks.push(chunk.slice())
        recycle(chunk)
      }
    } catch (error) {
      // A report does not fail because of the copy.
      this.drop(error instanceof Error ? error.message : String(error))
    }
  }

  /** Gives up if the whole copy would exceed the limit. @param share how much of the input was read */
  private judge(share: number): void {
    const { size, most } = this
    const rest = (size / share) * (1 - share)
    if (size + LEAST_REST * rest <= most) return
    const about = Math.round((size + rest) / KIB)
    const text = about < 10 * KIB ? `${about} KiB` : `${Math.round(about / KIB)} MiB`
    this.drop(
      `as a compact trace it would have about ${text}, as its first ${Math.ceil(100 * share)} % show, and the limit is ` +
        `${sizeText(most)}. hf-report --embed SIZE sets it`,
    )
  }

  private drop(reason: string): void {
    this.reason = `The trace itself is not in this page, so it cannot be filtered here: ${reason}.`
    this.discard()
  }

  /** Leaves everything to the garbage collector, also the kernel of an encoder that was not ended. */
  private discard(): void {
    this.encoder = undefined
    this.chunks = []
  }
}

/** A number of bytes as options have it, such as `64K`. */
function sizeText(bytes: number): string {
  for (const [unit, size] of [
    ['MiB', MIB],
    ['KiB', KIB],
  ] as const)
    if (bytes >= size && bytes % size === 0) return `${bytes / size} ${unit}`
  return `${bytes} bytes`
}
