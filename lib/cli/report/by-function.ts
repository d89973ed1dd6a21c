import { parseFrame, shortFrame } from '../../event/frame.js'
import type { OwnFrames } from '../../names/own-frames.js'
import type { Amount, Lived, Overhead, SiteStatistics } from '../../transforms/statistics/result.js'

/**
 * Sites with the same innermost function of the program's own as one. Sites without a function stay as they are. The most that was live at a
 * time (`ownPeak`) is the most that is certain: that of one of the sites, or of all at the peak.
 */
export function sitesByFunction(sites: readonly SiteStatistics[], own: OwnFrames): SiteStatistics[] {
  const found = new Map<string, SiteStatistics>()
  for (const site of sites) {
    const name = functionOf(site, own)
    const key = name === undefined ? `site ${found.size}` : `function ${name}`
    const one = found.get(key)
    if (one !== undefined) found.set(key, sum(one, site))
    else found.set(key, name === undefined ? site : named(site, name))
  }
  return [...found.values()]
}

function functionOf({ stack = [], function: name }: SiteStatistics, own: OwnFrames): string | undefined {
  const innermost = stack[own.start(stack)]
  return innermost === undefined ? name : (parseFrame(innermost).function ?? shortFrame(innermost))
}

/** The figures of a site under another name. */
function named(site: SiteStatistics, name: string): SiteStatistics {
  const { file: _file, line: _line, module: _module, callSite: _callSite, stack: _stack, ...figures } = site
  return { ...figures, function: name }
}

function sum(one: SiteStatistics, other: SiteStatistics): SiteStatistics {
  return {
    ...one,
    allocated: plus(one.allocated, other.allocated),
    atPeak: plus(one.atPeak, other.atPeak),
    leaked: plus(one.leaked, other.leaked),
    temporary: {
      heaptrack: plus(one.temporary.heaptrack, other.temporary.heaptrack),
      memray: plus(one.temporary.memray, other.temporary.memray),
    },
    ownPeak: largest([one.ownPeak, other.ownPeak, plus(one.atPeak, other.atPeak)]),
    foreignFrees: one.foreignFrees + other.foreignFrees,
    lived: lived(one.lived, other.lived),
    ...overhead(one.overhead, other.overhead),
    ...(one.crossCpuFrees !== undefined && { crossCpuFrees: one.crossCpuFrees + (other.crossCpuFrees ?? 0) }),
  }
}

function plus(one: Amount, other: Amount): Amount {
  return { blocks: one.blocks + other.blocks, bytes: one.bytes + other.bytes }
}

function largest(amounts: readonly Amount[]): Amount {
  return amounts.reduce((most, one) => (one.bytes > most.bytes ? one : most))
}

function lived(one: Lived, other: Lived): Lived {
  return {
    events: one.events + other.events,
    ...(one.time !== undefined && { time: one.time + (other.time ?? 0n) }),
  }
}

function overhead(one?: Overhead, other?: Overhead): { overhead?: Overhead } {
  if (one === undefined || other === undefined) {
    const only = one ?? other
    return only === undefined ? {} : { overhead: only }
  }
  return {
    overhead: {
      hits: one.hits + other.hits,
      requested: one.requested + other.requested,
      allocated: one.allocated + other.allocated,
      wasted: one.wasted + other.wasted,
    },
  }
}
