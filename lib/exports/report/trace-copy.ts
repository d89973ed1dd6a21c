import { KIB, MIB } from '../../bytes/units.js'
import type { EventBatch } from '../../event/batch.js'
import { recycle } from '../../event/recycle.js'
import { CompactEncoder } from '../../formats/compact/encode.js'

/**
 * A copy of a trace in the compact format, for the page of its report, as long as it is small. It uses the fast level:
 * the other one would more than halve the speed of a report. It takes the encoder's memory, and at most the limit; when
 * the limit is exceeded, all of it is released.
 */
export class TraceCopy {
  /** The reason why there is no copy, as a sentence; undefined if there is one. */
  reason: string | undefined
  private encoder: CompactEncoder | undefined = new CompactEncoder({ fast: true })
  private chunks: Uint8Array[] = []
  private size = 0

  /** @param most the maximum number of bytes */
  constructor(private readonly most: number) {}

  /** Takes the events of a batch. Does nothing once the copy was given up. */
  add(batch: EventBatch): void {
    this.run((encoder) => encoder.feed(batch))
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
          this.drop(tooLarge(this.most))
          return
        }
        // The memory of a chunk is larger than the chunk.
        this.chunks.push(chunk.slice())
        recycle(chunk)
      }
    } catch (error) {
      // A report does not fail because of the copy.
      this.drop(noCopy(error instanceof Error ? error.message : String(error)))
    }
  }

  private drop(reason: string): void {
    this.reason = reason
    this.discard()
  }

  /** Leaves everything to the garbage collector, also the kernel of an encoder that was not ended. */
  private discard(): void {
    this.encoder = undefined
    this.chunks = []
  }
}

/** Says that a trace has more than this many bytes. */
export function tooLarge(most: number): string {
  return noCopy(`as a compact trace it has more than ${sizeText(most)}. hf-report --embed SIZE sets the limit`)
}

function noCopy(reason: string): string {
  return `The trace itself is not in this page, so it cannot be filtered here: ${reason}.`
}

/** A number of bytes in the form of options, such as `64K`. */
function sizeText(bytes: number): string {
  for (const [unit, size] of [
    ['MiB', MIB],
    ['KiB', KIB],
  ] as const)
    if (bytes >= size && bytes % size === 0) return `${bytes / size} ${unit}`
  return `${bytes} bytes`
}
