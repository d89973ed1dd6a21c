import type { EventBatch } from '../../event/batch.js'
import { CompactEncoder } from '../../formats/compact/encode.js'

const KIB = 1024

/**
 * A copy of a trace in the compact format, for the page of its report, as long as it is small. It is of the fast level:
 * the other one would more than halve the speed of a report. Memory: that of the encoder, and at most the limit.
 */
export class TraceCopy {
  private readonly encoder = new CompactEncoder({ fast: true })
  private chunks: Uint8Array[] = []
  private size = 0
  private fault: string | undefined

  /** @param most the maximum number of bytes */
  constructor(private readonly most: number) {}

  /** Takes the events of a batch. If there is no copy any more, does nothing. */
  add(batch: EventBatch): void {
    if (this.fault === undefined) this.run(() => this.encoder.feed(batch))
  }

  /**
   * The bytes of the copy, which are a truncated trace if the input was.
   * @param complete whether the input was read to its end
   * @returns undefined if there is no copy: `reason` says why
   */
  finish(complete: boolean): Uint8Array | undefined {
    if (this.fault === undefined) this.run(() => (complete ? this.encoder.end() : this.encoder.endTruncated()))
    if (this.fault !== undefined) return undefined
    const copy = new Uint8Array(this.size)
    let at = 0
    for (const chunk of this.chunks) {
      copy.set(chunk, at)
      at += chunk.length
    }
    return copy
  }

  /** Why there is no copy, as a sentence; undefined if there is one. */
  get reason(): string | undefined {
    return this.fault
  }

  private run(step: () => void): void {
    try {
      step()
      for (let chunk = this.encoder.next(); chunk !== null; chunk = this.encoder.next()) {
        this.size += chunk.length
        if (this.size > this.most) {
          this.drop(`as a compact trace it has more than ${sizeText(this.most)}. hf-report --embed SIZE sets the limit`)
          return
        }
        this.chunks.push(chunk)
      }
    } catch (error) {
      // A report does not fail because of the copy.
      this.drop(error instanceof Error ? error.message : String(error))
    }
  }

  private drop(reason: string): void {
    this.fault = `The trace itself is not in this page, so it cannot be filtered here: ${reason}.`
    this.chunks = []
    try {
      this.encoder.endTruncated()
    } catch {
      // Its kernel is left to the garbage collector.
    }
  }
}

/** A number of bytes as options have it, such as `64K`. */
function sizeText(bytes: number): string {
  for (const [unit, size] of [
    ['MiB', KIB * KIB],
    ['KiB', KIB],
  ] as const)
    if (bytes >= size && bytes % size === 0) return `${bytes / size} ${unit}`
  return `${bytes} bytes`
}
