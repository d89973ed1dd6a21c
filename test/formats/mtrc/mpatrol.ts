import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { corpusFile } from '../../support/corpus.js'

const FIXTURES = new URL('../../fixtures/mtrc/', import.meta.url)

/** A trace that mpatrol wrote: its name, its number of events with those of reserved memory, and its version. */
export type Recorded = readonly [name: string, events: number, version: number]

/** Those in the repository. */
export const RECORDED: readonly Recorded[] = [
  ['cxx64', 111, 10501],
  ['fork-parent64', 16, 10501],
  ['small32', 2798, 10501],
  ['small64', 2798, 10501],
]

/** Those in the corpus alone. */
export const IN_CORPUS: readonly Recorded[] = [
  ['espresso-tiny32', 56_828, 10501],
  ['espresso-tiny64pie', 56_830, 10501],
  ['fork-child64', 3, 10501],
  ['legacy-cpp', 930, 10300],
  ['legacy-gcc', 326, 10300],
  ['mt64', 18_621, 10501],
  ['small64pie', 2798, 10501],
]

/**
 * A trace of mpatrol (`cxx64.mtrc`), or what mpatrol's own reader prints for it (`cxx64.verbose.txt`,
 * `cxx64.stats.txt`).
 */
export function mpatrolFile(file: string): Uint8Array {
  const plain = new URL(file, FIXTURES)
  const compressed = new URL(`${file}.gz`, FIXTURES)
  if (existsSync(plain)) return new Uint8Array(readFileSync(plain))
  if (existsSync(compressed)) return new Uint8Array(gunzipSync(readFileSync(compressed)))
  return corpusFile(`mtrc/${file}`)
}
