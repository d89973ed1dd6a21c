/* The savings by pools, which reports, JSON, verdicts and pages describe in the same words. */

/** A heap with pools, or without them. */
export interface PooledHeap {
  /** The maximum bytes of pages with live blocks. */
  readonly pages: number
  /** The part of the heap that is not granted, when it is largest; null without a heap. */
  readonly external: number | null
}

/** The savings by pools for short-lived blocks, from a simulation with arenas and one of the same policy without. */
export interface PoolGain {
  /** The policy of the heap. */
  readonly general: string
  /** The names of the sites with the most bytes in short-lived blocks. */
  readonly sites: readonly string[]
  /** The bytes of pages that are saved, and the bytes without pools. */
  readonly saved: number
  readonly without: PooledHeap
  readonly pooled: PooledHeap
}

/** The gain in a sentence. */
export function poolSentence({ general, sites, saved, without, pooled }: PoolGain): string {
  return (
    `More: pools for short-lived blocks, first of all those of ${sites.join('; ')}, save ${grouped(saved)} of ` +
    `${grouped(without.pages)} resident bytes at the peak (${percent(saved / without.pages)}), by simulation with ` +
    `${general}; external fragmentation is ${percent(pooled.external)} instead of ${percent(without.external)}.`
  )
}

function percent(part: number | null): string {
  return part === null ? '-' : `${(100 * part).toFixed(0)} %`
}

function grouped(n: number): string {
  return n.toLocaleString('en-US')
}
