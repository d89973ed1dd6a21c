import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { AllocatorSurvey } from '../../lib/allocators/index.js'
import { replayFile, simulate } from '../support/simulate.js'

const FOLDER = new URL('recordings/', import.meta.url)
const RECORDINGS = readdirSync(FOLDER).filter((name) => name.startsWith('glibc'))

/**
 * The places of the heap and of the area for mappings are random, so the first block in each is a surprise; and so is
 * the end of the gap above the first heap of a thread.
 */
const UNKNOWABLE = 3

/** The version and word size in a file's name. */
function madeWith(name: string): { version: number; bits: 32 | 64 } {
  const [, version, bits] = /^glibc-2\.(\d+)-(\d+)-bit/.exec(name) as unknown as [string, string, string]
  return { version: Number(version), bits: Number(bits) as 32 | 64 }
}

describe.each(RECORDINGS)('%s', (name) => {
  const { version, bits } = madeWith(name)
  const batches = replayFile(new URL(name, FOLDER))

  test('is predicted by the simulation of its own version', () => {
    const { blocks, wrong } = simulate(batches, { allocator: 'ptmalloc', version, bits, cores: 2 })
    expect(blocks).toBeGreaterThan(2000)
    expect(wrong).toBeLessThanOrEqual(UNKNOWABLE)
  })

  test('is not predicted by those of versions that differ', () => {
    const others = { 31: [25, 29, 37, 41], 36: [25, 29, 37, 41], 41: [25, 29, 36, 40], 43: [25, 36, 41, 42] }[
      version
    ] as number[]
    for (const other of others) {
      const { wrong } = simulate(batches, { allocator: 'ptmalloc', version: other, bits, cores: 2 })
      expect(wrong).toBeGreaterThan(UNKNOWABLE + 3)
    }
  })

  test('is found to be of its version and word size', () => {
    const survey = new AllocatorSurvey()
    for (const batch of batches) survey.add(batch)
    const { settings, versions, isRecognized, blocks, predicted } = survey.finish()
    expect(isRecognized).toBe(true)
    expect(settings?.bits).toBe(bits)
    const [first, last] = versions as readonly [number, number]
    expect(first).toBeLessThanOrEqual(version)
    expect(last).toBeGreaterThanOrEqual(version)
    expect(blocks - predicted).toBeLessThanOrEqual(UNKNOWABLE)
  })
})
