import { parseFrame, shortFrame } from '../../event/frame.js'
import type { OwnFrames } from '../../names/own-frames.js'
import type {
  Handoff,
  Lived,
  Overhead,
  Shares,
  SiteStatistics,
  SiteThread,
  Thread,
} from '../../transforms/statistics/result.js'
import { addShares, largerPeak, NOTHING, noShares, plus, sumOfShares } from '../../transforms/statistics/amounts.js'
import { descending, withFigures } from '../../transforms/statistics/site-table.js'

/** The subjects by which sites are added up. */
type SiteGroup = 'function' | 'module'

/** The figures of a function or a module. */
export interface GroupedSite extends SiteStatistics {
  /** The figures of all sites with it on their stacks, each counted once; hidden frames do not count. */
  readonly inclusive: Shares
}

/**
 * Combines sites with the same innermost function of the program itself, or with the same module. Sites without one
 * remain separate. A function that only calls others has inclusive figures only. The maximum of live bytes (`ownPeak`)
 * is a lower bound: the largest of the sites', or the sum of all at the peak.
 */
export function groupedSites(sites: readonly SiteStatistics[], own: OwnFrames, by: SiteGroup): GroupedSite[] {
  const groups: Group[] = []
  const found = new Map<string, Group>()
  const known = new Map<string, string>()
  const nameOf = (frame: string) => {
    let name = known.get(frame)
    if (name === undefined) {
      const parsed = parseFrame(frame)
      name = (by === 'function' ? (parsed.function ?? shortFrame(frame)) : parsed.module) ?? ''
      known.set(frame, name)
    }
    return name
  }
  const add = (name: string, site: SiteStatistics) => {
    const group = { site, inclusive: noShares() }
    groups.push(group)
    if (name !== '') found.set(name, group)
    return group
  }
  for (const site of sites) {
    const names = namesOf(site, own, by, nameOf)
    const [innermost = ''] = names
    const group = innermost === '' ? undefined : found.get(innermost)
    if (group !== undefined) group.site = sum(group.site, site)
    addShares((group ?? add(innermost, innermost === '' ? site : named(site, innermost, by))).inclusive, site)
    const callers = new Set(names)
    callers.delete(innermost)
    callers.delete('')
    for (const name of callers) {
      const caller = found.get(name) ?? add(name, named(empty(site), name, by))
      addShares(caller.inclusive, site)
    }
  }
  return groups.map(({ site, inclusive }) => withFigures(site, { inclusive }))
}

interface Group {
  site: SiteStatistics
  readonly inclusive: Shares
}

/** The functions or modules of a site's stack, the innermost of the program's own first; empty where unknown. */
function namesOf(
  { stack, function: name, module }: SiteStatistics,
  own: OwnFrames,
  by: SiteGroup,
  nameOf: (frame: string) => string,
): string[] {
  if (stack === undefined) return [(by === 'function' ? name : module) ?? '']
  const frames = stack.slice(own.start(stack)).map(nameOf)
  // An inlined function is in the module of its caller.
  if (by === 'module') for (let i = frames.length - 2; i >= 0; i--) frames[i] ||= frames[i + 1]
  return frames
}

/** The figures of a site under another name. */
function named(site: SiteStatistics, name: string, by: SiteGroup): SiteStatistics {
  const { function: _function, file: _file, line: _line, module: _module, ...others } = site
  const { callSite: _callSite, stack: _stack, ...figures } = others
  return { ...figures, [by]: name }
}

/** The figures of a place that allocates nothing itself. */
function empty(site: SiteStatistics): SiteStatistics {
  return {
    allocated: NOTHING,
    atPeak: NOTHING,
    leaked: NOTHING,
    temporary: { heaptrack: NOTHING, memray: NOTHING },
    ownPeak: NOTHING,
    foreignFrees: 0,
    lived: { events: 0n, ...(site.lived.time !== undefined && { time: 0n }) },
    ...(site.crossCpuFrees !== undefined && { crossCpuFrees: 0 }),
  }
}

function sum(one: SiteStatistics, other: SiteStatistics): SiteStatistics {
  return {
    ...one,
    ...sumOfShares(one, other),
    ownPeak: largerPeak(largerPeak(one.ownPeak, other.ownPeak), plus(one.atPeak, other.atPeak)),
    foreignFrees: one.foreignFrees + other.foreignFrees,
    ...threads(one.threads, other.threads),
    lived: lived(one.lived, other.lived),
    ...overhead(one.overhead, other.overhead),
    ...(one.crossCpuFrees !== undefined && { crossCpuFrees: one.crossCpuFrees + (other.crossCpuFrees ?? 0) }),
  }
}

/** The allocations of each thread at either site. */
function threads(one?: readonly SiteThread[], other?: readonly SiteThread[]): { threads?: SiteThread[] } {
  if (one === undefined || other === undefined) {
    const only = one ?? other
    return only === undefined ? {} : { threads: [...only] }
  }
  const found = new Map(one.map((thread) => [keyOf(thread), thread]))
  for (const thread of other) {
    const known = found.get(keyOf(thread))
    found.set(
      keyOf(thread),
      known === undefined
        ? thread
        : { ...thread, ...sumOfShares(known, thread), ...freedBy(known.freedBy, thread.freedBy) },
    )
  }
  return { threads: [...found.values()].toSorted((a, b) => descending(a.allocated.bytes, b.allocated.bytes)) }
}

function freedBy(one: readonly Handoff[] = [], other: readonly Handoff[] = []): { freedBy?: Handoff[] } {
  const found = new Map(one.map((handoff) => [keyOf(handoff), handoff]))
  for (const handoff of other) {
    const known = found.get(keyOf(handoff))
    found.set(keyOf(handoff), known === undefined ? handoff : { ...handoff, ...plus(known, handoff) })
  }
  if (found.size === 0) return {}
  return { freedBy: [...found.values()].toSorted((a, b) => descending(a.bytes, b.bytes)) }
}

function keyOf({ rest, process, thread }: Thread): string {
  return rest ?? `${process} ${thread}`
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
