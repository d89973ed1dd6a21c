import type { FramePattern, SuppressibleFrame, Suppression } from './suppression.js'

/** The maximum memory for the results for frames, in words; beyond it, the set begins again. */
const MAX_WORDS = 4_194_304

/**
 * Rules in their order, to find the first one that holds for a stack. Each rule has patterns that frames must fit, and
 * each distinct frame is compared with each pattern once. So a stack takes time proportional to its length, and only
 * rules of which it fits all patterns are tried.
 */
export class SuppressionSet {
  /** For each rule, its patterns in the words of a frame, as pairs: the word and the bits in it. */
  private readonly needs: readonly Uint32Array[]
  private readonly patterns: readonly FramePattern[]
  private readonly words: number
  /** The results for frames: the same frame should be the same object. */
  private readonly known = new Map<SuppressibleFrame, Uint32Array>()
  private readonly all: Uint32Array

  constructor(readonly rules: readonly Suppression[]) {
    const patterns: FramePattern[] = []
    this.needs = rules.map(({ needs }) => {
      const bits = new Map<number, number>()
      for (const pattern of needs) {
        const id = patterns.push(pattern) - 1
        bits.set(id >>> 5, (bits.get(id >>> 5) ?? 0) | (1 << (id & 31)))
      }
      return Uint32Array.from([...bits].flat())
    })
    this.patterns = patterns
    this.words = (patterns.length + 31) >>> 5
    this.all = new Uint32Array(this.words)
  }

  /** The position of the first rule that holds for a stack, innermost frame first; -1 if none does. */
  find(frames: readonly SuppressibleFrame[]): number {
    const { all, needs, rules } = this
    all.fill(0)
    for (const frame of frames) {
      const fits = this.known.get(frame) ?? this.compare(frame)
      for (let w = 0; w < all.length; w++) all[w] = all[w] | fits[w]
    }
    return rules.findIndex((rule, i) => isIn(needs[i], all) && (rule.isAnyFrame || rule.matches(frames)))
  }

  private compare(frame: SuppressibleFrame): Uint32Array {
    const { known, patterns, words } = this
    if ((known.size + 1) * words > MAX_WORDS) known.clear()
    const fits = new Uint32Array(words)
    patterns.forEach((pattern, id) => {
      if (pattern(frame)) fits[id >>> 5] = fits[id >>> 5] | (1 << (id & 31))
    })
    known.set(frame, fits)
    return fits
  }
}

function isIn(needs: Uint32Array, all: Uint32Array): boolean {
  for (let i = 0; i < needs.length; i += 2) {
    const bits = needs[i + 1]
    if ((all[needs[i]] & bits) >>> 0 !== bits) return false
  }
  return true
}
