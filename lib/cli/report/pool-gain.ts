import { wasteOf } from '../../exports/simulation/data.js'
import type { PooledHeap, PoolGain } from '../../exports/simulation/pools.js'
import { OwnFrames } from '../../names/own-frames.js'
import type { ShortLivedSite } from '../../transforms/simulate/lifetimes/predictor.js'
import type { HeapMoment, SimulationResult } from '../../transforms/simulate/result.js'
import { siteLabels } from './names.js'

/** A smaller part of the pages is not worth a sentence. */
const NOTABLE = 0.1
/** The sites that are named, and the columns of each. */
const SITES = 3
const WIDTH = 60

/**
 * The pools that would save memory, and the savings: by a simulation with arenas for short-lived blocks, and one of the
 * same policy without. Null if there are not both, or the pages with live blocks, at their maximum, would be less than
 * a tenth fewer.
 * @param sites the sites, those with the most bytes in short-lived blocks first
 */
export function poolGain(results: readonly SimulationResult[], sites: readonly ShortLivedSite[]): PoolGain | null {
  const pooled = results.find(({ settings }) => settings.prediction !== null)
  const general = pooled?.settings.prediction?.general
  const alone = results.find(({ settings }) => settings.policy === general)
  const [least, most] = [pooled?.mostPages?.pages, alone?.mostPages?.pages]
  if (general === undefined || least === undefined || most === undefined || sites.length === 0) return null
  if (!isNotable(least, most)) return null
  const external = (moment?: HeapMoment | null) => (moment ? wasteOf(moment).external : null)
  const heap = (pages: number, result?: SimulationResult): PooledHeap => ({
    pages,
    external: external(result?.largestHeap),
  })
  const named = sites.slice(0, SITES).map(({ site }) => site)
  return {
    general,
    sites: siteLabels(named, { own: new OwnFrames(), columns: WIDTH }, WIDTH),
    saved: most - least,
    without: heap(most, alone),
    pooled: heap(least, pooled),
  }
}

/**
 * Whether pools could save enough for a sentence, by an estimate without simulating them: pages cannot have more bytes
 * of live blocks than their size.
 * @param alone the result without pools
 */
export function canGain({ mostLive, mostPages }: SimulationResult): boolean {
  return mostLive !== null && mostPages !== null && isNotable(mostLive.requested, mostPages.pages)
}

function isNotable(least: number, most: number): boolean {
  return most - least >= NOTABLE * most
}
