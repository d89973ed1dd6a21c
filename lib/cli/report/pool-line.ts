import { wasteOf } from '../../exports/simulation/data.js'
import { OwnFrames } from '../../names/own-frames.js'
import type { ShortLivedSite } from '../../transforms/simulate/lifetimes/predictor.js'
import type { SimulationResult } from '../../transforms/simulate/result.js'
import { grouped } from './columns.js'
import { siteLabels } from './names.js'

/** A smaller part of the pages is not worth a sentence. */
const NOTABLE = 0.1
/** The sites that are named, and the columns of each. */
const SITES = 3
const WIDTH = 60

/**
 * Which pools would save memory, and how much, as one sentence: by a simulation with arenas for short-lived blocks, and
 * one of the same policy without. Undefined if there are not both, or the pages with live blocks, at their maximum,
 * would be less than a tenth fewer.
 * @param sites those with the most bytes in short-lived blocks, first
 */
export function poolLine(results: readonly SimulationResult[], sites: readonly ShortLivedSite[]): string | undefined {
  const pooled = results.find(({ settings }) => settings.prediction !== null)
  const general = pooled?.settings.prediction?.general
  const alone = results.find(({ settings }) => settings.policy === general)
  const [least, most] = [pooled?.mostPages?.pages, alone?.mostPages?.pages]
  if (least === undefined || most === undefined || most - least < NOTABLE * most || sites.length === 0) return undefined
  const named = sites.slice(0, SITES).map(({ site }) => site)
  const names = siteLabels(named, { own: new OwnFrames(), columns: WIDTH }, WIDTH).join('; ')
  const external = (result?: SimulationResult) => {
    const part = result?.largestHeap ? wasteOf(result.largestHeap).external : null
    return part === null ? '-' : percent(part)
  }
  return (
    `More: pools for short-lived blocks, first of all those of ${names}, save ${grouped(most - least)} of ` +
    `${grouped(most)} resident bytes at the peak (${percent((most - least) / most)}), by simulation with ${general}; ` +
    `external fragmentation is ${external(pooled)} instead of ${external(alone)}.`
  )
}

function percent(part: number): string {
  return `${(100 * part).toFixed(0)} %`
}
