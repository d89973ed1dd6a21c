import { describe, expect, test } from 'vitest'
import type { AllocatorSettings } from '../../lib/allocators/index.js'
import { corpusFile } from '../support/corpus.js'
import { replayBatches, simulate } from '../support/simulate.js'

describe('the corpus', { tags: ['corpus'] }, () => {
  test.each<[string, 32 | 64, number, number]>([
    ['twolf-map9v3', 64, 222_527, 1],
    ['git', 64, 148_057, 3],
    ['python', 64, 655_867, 2],
    ['espresso-largest-m32', 32, 1_675_484, 1],
    ['mstress', 64, 552_325, 36],
  ])('%s (%i bit): of %i blocks at most %i are elsewhere', (name, bits, blocks, wrong) => {
    const settings: AllocatorSettings = { allocator: 'ptmalloc', version: 36, bits, cores: 2 }
    const result = simulate(replayBatches(corpusFile(`memory-replay/${name}.txt`)), settings)
    expect(result.blocks).toBe(blocks)
    expect(result.wrong).toBeLessThanOrEqual(wrong)
  })

  test('systemui (jemalloc 3): at least 96.9 % of 421,234 blocks', () => {
    const settings: AllocatorSettings = { allocator: 'jemalloc', version: 3, bits: 32, entries: [16, 24] }
    const { blocks, wrong } = simulate(replayBatches(corpusFile('memory-replay/systemui.txt')), settings)
    expect(blocks).toBe(421_234)
    expect(wrong).toBeLessThanOrEqual(0.031 * blocks)
  })
})
