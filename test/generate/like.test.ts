// @module-tag slow
// @module-tag corpus
import { describe, expect, test } from 'vitest'
import { openTrace } from '../../lib/entry/index.js'
import type { EventBatch } from '../../lib/event/batch.js'
import { TraceSurvey } from '../../lib/generate/survey.js'
import { Simulator } from '../../lib/transforms/simulate/simulator.js'
import { corpusPath } from '../support/corpus.js'
import { critical, distance, generated, Lives } from './support.js'

const POLICIES = ['first-fit', 'best-fit', 'segregated'] as const

/** Blocks and heaps of a trace. */
class Measured {
  readonly lives = new Lives()
  private readonly heaps = POLICIES.map((policy) => new Simulator({ policy }, true))

  add(batch: EventBatch): void {
    this.lives.add(batch)
    for (const heap of this.heaps) {
      heap.feed(batch)
      while (heap.next() !== null) continue
    }
  }

  /** The largest heap over the most live bytes, and the average of both, by policy. */
  ratios(): number[] {
    return this.heaps.flatMap((heap) => {
      const { ofMaxima, average } = heap.results()[0]!.fragmentation
      return [1 + ofMaxima!, 1 + average!]
    })
  }
}

/** What the document states: how far lifetimes, by the critical distance, and ratios may be from those of the trace. */
describe.each([
  ['memory-replay/twolf-map9v3.txt.gz', 1, 0.1],
  ['memory-replay/git.txt.gz', 1, 0.1],
  ['memory-replay/python.txt.gz', 1, 0.1],
  // All live blocks take 270 KB, so that a few large ones more are a difference.
  ['memory-replay/espresso-largest-m32.txt.gz', 1, 0.2],
  ['memory-replay/mstress.txt.gz', 1, 0.2],
  ['memory-replay/systemui.txt.gz', 1, 0.1],
  // Two blocks of three are resized, most of them by the next call.
  ['mtrace/python-large.mtrace.gz', 2.5, 0.1],
])('a trace like %s', (path, factor, most) => {
  test('has the same sizes and lifetimes, and fragments memory as much', async () => {
    const [original, copy] = [new Measured(), new Measured()]
    const survey = new TraceSurvey()
    for await (const batch of openTrace(corpusPath(path)).batches) {
      survey.add(batch)
      original.add(batch)
    }
    for (const batch of generated({ like: survey.finish() })) copy.add(batch)
    expect(distance(original.lives.sizes, copy.lives.sizes)).toBeLessThan(critical(100_000))
    expect(distance(original.lives.lifetimes, copy.lives.lifetimes)).toBeLessThan(factor * critical(100_000))
    const was = original.ratios()
    for (const [i, is] of copy.ratios().entries()) expect(Math.abs(is / was[i]! - 1)).toBeLessThan(most)
  })
})
