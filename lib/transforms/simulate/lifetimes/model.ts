import { limit } from '../../../event/error.js'
import { needResult } from '../../../event/options.js'
import { NumberedTexts } from '../../../text/numbered-texts.js'
import type { Site } from '../../statistics/result.js'
import { LARGEST_SIZE } from './kinds.js'
import type { LifetimePredictor } from './predictor.js'

/** The name and the version of the format of these models. */
export const LIFETIME_FORMAT = 'heapflow-lifetimes'
export const LIFETIME_VERSION = 1
/** The maximum size of a file in bytes. */
export const MOST_LIFETIME_BYTES = 256 << 20

/** Limits of a model. */
export const MOST_NAMES = 1 << 20
export const MOST_NODES = 1 << 22
export const MOST_SITES = 1 << 16
export const MOST_KINDS = 1 << 20
/** The total number of frames of all kinds and of the sites in `top`. Reading takes a microsecond for each. */
export const MOST_FRAMES = 1 << 22

/** The frames of stacks as a tree, in columns. A stack is a node: its innermost frame, with that frame's callers. */
export interface ModelStacks {
  /** The position in the names, from 0. */
  readonly name: readonly number[]
  /** The position of the caller, from 1, which comes before; 0 for an outermost frame. */
  readonly caller: readonly number[]
}

/** A place of allocations: a stack, or otherwise what is known of it. */
export interface ModelSite {
  /** The position of its innermost frame in the stacks, from 1. */
  readonly stack?: number
  /** Positions in the names, from 0. */
  readonly function?: number
  readonly file?: number
  readonly module?: number
  readonly line?: number
  /** In hexadecimal digits. */
  readonly callSite?: string
}

/** The sites and sizes of short-lived blocks, in columns. */
export interface ModelSizes {
  /** The position in the sites, from 1; 0 for allocations without one. */
  readonly site: readonly number[]
  /** Rounded up to a multiple of 4 bytes. */
  readonly size: readonly number[]
}

/** The sites with the most bytes in short-lived blocks, in columns. */
export interface ModelTop {
  readonly site: readonly number[]
  readonly blocks: readonly number[]
  readonly bytes: readonly number[]
}

/** Lifetimes learned from a trace, for a file: JSON, whose schema is docs/lifetimes.schema.json. */
export interface LifetimeModel {
  readonly format: typeof LIFETIME_FORMAT
  readonly version: typeof LIFETIME_VERSION
  readonly threshold: number
  readonly frames: number | null
  /** Pairs of a site and a size in the trace, whether blocks had sites, and whether there were too many pairs. */
  readonly allKinds: number
  readonly hasSites: boolean
  readonly isLimited: boolean
  readonly names: readonly string[]
  readonly stacks: ModelStacks
  readonly sites: readonly ModelSite[]
  readonly kinds: ModelSizes
  readonly top: ModelTop
}

/** Columns, with the smallest and the largest value of each. */
export const STACK_COLUMNS = { name: [0, MOST_NAMES - 1], caller: [0, MOST_NODES] } as const
export const KIND_COLUMNS = { site: [0, MOST_SITES], size: [0, LARGEST_SIZE] } as const
const MOST_SUM = Number.MAX_SAFE_INTEGER
export const TOP_COLUMNS = { site: [1, MOST_SITES], blocks: [0, MOST_SUM], bytes: [0, MOST_SUM] } as const

/** Numbers the names, frames and sites of a model. */
class ModelWriter {
  readonly names = new NumberedTexts()
  readonly stacks = { name: [] as number[], caller: [] as number[] }
  readonly sites: ModelSite[] = []
  /** By node, the number of frames from the node to the root. */
  readonly depths = [0]
  private readonly nodeOf = new Map<number, number>()
  private readonly siteOf = new Map<string, number>()

  /** The number of a site, from 1; 0 for none. */
  site(site: Site): number {
    if (site.rest !== undefined) return 0
    const { function: name, file, line, module, callSite } = site
    const { stack } = site
    const made: ModelSite = {
      ...(stack !== undefined && { stack: this.node(stack) }),
      ...(name !== undefined && { function: this.names.id(name) }),
      ...(file !== undefined && { file: this.names.id(file) }),
      ...(module !== undefined && { module: this.names.id(module) }),
      ...(line !== undefined && { line }),
      ...(callSite !== undefined && { callSite: callSite.toString(16) }),
    }
    const key = JSON.stringify(made)
    const known = this.siteOf.get(key)
    if (known !== undefined) return known
    this.sites.push(made)
    this.siteOf.set(key, this.sites.length)
    return this.sites.length
  }

  /** The number of frames of a site's stack. */
  depth(site: number): number {
    return this.depths[this.sites[site - 1]?.stack ?? 0]
  }

  private node(stack: readonly string[]): number {
    let at = 0
    for (let i = stack.length - 1; i >= 0; i--) {
      const name = this.names.id(stack[i])
      const key = at * MOST_NAMES + name
      let next = this.nodeOf.get(key)
      if (next === undefined) {
        this.stacks.name.push(name)
        this.stacks.caller.push(at)
        next = this.stacks.name.length
        this.depths.push(this.depths[at] + 1)
        this.nodeOf.set(key, next)
      }
      at = next
    }
    return at
  }
}

/**
 * The model learned from a trace, as a value for `JSON.stringify`. `checkLifetimeModel` reads it. It has the names of
 * functions and files.
 * @throws TraceError (ERR_TRACE_LIMIT) for more names, frames or sites than can be read
 */
export function lifetimeModel(learned: LifetimePredictor): LifetimeModel {
  needResult(learned, 'lifetimes', 'training', 'lifetimeModel')
  const { threshold, frames, kinds, training } = learned
  const writer = new ModelWriter()
  const sites = kinds.map(({ site }) => writer.site(site))
  const { shortSites, hasSites, isLimited } = training
  const top = shortSites.map(({ site }) => writer.site(site))
  const { stacks } = writer
  const names = writer.names.all
  let all = 0
  for (const site of [...sites, ...top]) all += writer.depth(site)
  if (names.length > MOST_NAMES || stacks.name.length > MOST_NODES || all > MOST_FRAMES)
    throw limit('the stacks have too many frames for a model: fewer of each are enough', { format: 'JSON' })
  if (writer.sites.length > MOST_SITES || sites.length > MOST_KINDS)
    throw limit('there are too many sites or sizes for a model', { format: 'JSON' })
  return {
    format: LIFETIME_FORMAT,
    version: LIFETIME_VERSION,
    threshold,
    frames,
    allKinds: training.kinds,
    hasSites,
    isLimited,
    names,
    stacks,
    sites: writer.sites,
    kinds: { site: sites, size: kinds.map(({ size }) => size) },
    top: {
      site: top,
      blocks: shortSites.map(({ blocks }) => blocks),
      // A larger sum was rounded before.
      bytes: shortSites.map(({ bytes }) => Math.min(bytes, MOST_SUM)),
    },
  }
}
