import { columns, flag, formOf, list, whole, wrong } from '../../../event/model-checks.js'
import { showValue } from '../../../event/message-text.js'
import type { Site } from '../../statistics/result.js'
import type { ModelSizes, ModelStacks, ModelTop } from './model.js'
import * as Model from './model.js'
import { LifetimePredictor } from './predictor.js'
import { MOST_SITE_FRAMES, MOST_SHORT_SITES, MOST_THRESHOLD } from './trainer.js'

const FORM = { format: Model.LIFETIME_FORMAT, version: Model.LIFETIME_VERSION }
const PROPERTIES = 'threshold frames allKinds hasSites isLimited names stacks sites kinds top'.split(' ')
const SITE_PROPERTIES = new Set(['stack', 'function', 'file', 'module', 'line', 'callSite'])
const MOST_LINE = 2 ** 32 - 1

/**
 * Reads a model that `lifetimeModel` made.
 * @param value the result of `JSON.parse` for a file
 * @throws TraceError (ERR_TRACE_MALFORMED) for anything that is not a model of this version
 */
export function checkLifetimeModel(value: unknown): LifetimePredictor {
  const model = formOf(value, FORM, PROPERTIES)
  const threshold = whole('threshold', model['threshold'], 0, MOST_THRESHOLD)
  const frames = model['frames'] === null ? null : whole('frames', model['frames'], 1, MOST_SITE_FRAMES)
  const allKinds = whole('allKinds', model['allKinds'], 0, Model.MOST_KINDS)
  const names = list('names', model['names'], Model.MOST_NAMES).map((name) => {
    if (typeof name !== 'string') throw wrong(`a name must be a string, not ${showValue(name)}`)
    return name
  })
  const stacks = columns<ModelStacks>('stacks', model['stacks'], Model.STACK_COLUMNS, Model.MOST_NODES)
  const depths = depthsOf(stacks, names.length)
  const stackOf = (node: number) => {
    const found: string[] = []
    for (let at = node; at !== 0; at = stacks.caller[at - 1]) found.push(names[stacks.name[at - 1]])
    return found
  }
  const read = list('sites', model['sites'], Model.MOST_SITES).map((site) => siteOf(site, names, depths.length - 1))
  const kinds = columns<ModelSizes>('kinds', model['kinds'], Model.KIND_COLUMNS, Model.MOST_KINDS)
  const top = columns<ModelTop>('top', model['top'], Model.TOP_COLUMNS, MOST_SHORT_SITES)
  let all = 0
  for (const site of [...kinds.site, ...top.site]) {
    if (site > read.length) throw wrong(`there are ${read.length} sites`)
    all += depths[read[site - 1]?.stack ?? 0]
  }
  if (all > Model.MOST_FRAMES) throw wrong(`the stacks of all kinds have more than ${Model.MOST_FRAMES} frames`)
  // A stack that is not of a kind takes no memory.
  const made: Site[] = []
  const sites = (number: number): Site => {
    if (number === 0) return { rest: 'none' }
    const { stack, place } = read[number - 1]
    return (made[number] ??= stack === 0 ? place : { stack: stackOf(stack) })
  }
  return new LifetimePredictor(
    threshold,
    frames,
    kinds.site.map((site, i) => {
      const size = kinds.size[i]
      if (size % 4 !== 0) throw wrong(`kinds.size must be multiples of 4, not ${size}`)
      return { site: sites(site), size }
    }),
    {
      kinds: allKinds,
      shortKinds: kinds.site.length,
      shortSites: top.site.map((site, i) => ({
        site: sites(site),
        blocks: top.blocks[i],
        bytes: top.bytes[i],
      })),
      hasSites: flag('hasSites', model['hasSites']),
      isLimited: flag('isLimited', model['isLimited']),
    },
  )
}

/** A site: the node of its stack, or 0 and whatever else is known. */
interface ReadSite {
  readonly stack: number
  readonly place: Site
}

function siteOf(value: unknown, names: readonly string[], nodes: number): ReadSite {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('a site must be an object')
  const site = value as Readonly<Record<string, unknown>>
  const keys = Object.keys(site)
  const unknown = keys.find((key) => !SITE_PROPERTIES.has(key))
  if (unknown !== undefined) throw wrong(`a site: unknown property ${showValue(unknown)}`)
  if (keys.length === 0) throw wrong('a site must have a property')
  if (Object.hasOwn(site, 'stack')) {
    if (keys.length > 1) throw wrong('a site with a stack must have nothing else')
    return { stack: whole('stack', site['stack'], 1, nodes), place: {} }
  }
  const place: Site = {}
  for (const key of ['function', 'file', 'module'] as const)
    if (Object.hasOwn(site, key)) place[key] = names[whole(key, site[key], 0, names.length - 1)]
  if (Object.hasOwn(site, 'line')) place.line = whole('line', site['line'], 0, MOST_LINE)
  if (Object.hasOwn(site, 'callSite')) {
    const digits = site['callSite']
    if (typeof digits !== 'string' || !/^[\da-f]{1,16}$/.test(digits))
      throw wrong(`callSite must be up to 16 hexadecimal digits, not ${showValue(digits)}`)
    place.callSite = BigInt(`0x${digits}`)
  }
  return { stack: 0, place }
}

/** By node, from 1, the number of frames from it on. */
function depthsOf({ name, caller }: ModelStacks, names: number): Float64Array {
  const depths = new Float64Array(name.length + 1)
  for (let node = 1; node < depths.length; node++) {
    if (name[node - 1] >= names) throw wrong(`stacks: there are ${names} names`)
    const outer = caller[node - 1]
    if (outer >= node) throw wrong('stacks: a caller must come before')
    depths[node] = depths[outer] + 1
  }
  return depths
}
