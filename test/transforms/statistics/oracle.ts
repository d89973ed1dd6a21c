import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import type {
  Amount,
  HistogramResult,
  Peak,
  Shares,
  Site,
  SizeStatistics,
  Statistics,
} from '../../../lib/transforms/statistics/result.js'
import { blocksByMap } from '../../blocks/blocks.js'
import { ResidentOracle } from './resident-oracle.js'
import { timelineOf, type Moment } from './timeline-oracle.js'

interface Block {
  born: number
  size: bigint
  site: string
  thread: string
  family: string | undefined
  cpu: number | undefined
  time: bigint | undefined
  clock: bigint
  /** When it came to its site: among the events about blocks, and since the trace began. */
  since: { events: bigint; time: bigint }
  /** It was there before, so its lifetime is not known. */
  isUnborn: boolean
}

const FAMILY: Record<string, string> = {
  malloc: 'malloc',
  calloc: 'malloc',
  memalign: 'malloc',
  realloc: 'malloc',
  free: 'malloc',
  new: 'new',
  delete: 'new',
  kmalloc: 'kmalloc',
  kfree: 'kmalloc',
  kmem_cache_alloc: 'kmem_cache',
  kmem_cache_free: 'kmem_cache',
  pages: 'pages',
}

const parse = (site: string): Site =>
  JSON.parse(site, (key, value: unknown) => (key === 'callSite' ? BigInt(value as string) : value)) as Site

function siteOf({ stack, function: name, file, line, module, callSite }: TraceEvent): string | undefined {
  if (stack !== undefined) return JSON.stringify(stack.length > 0 ? { stack } : { rest: 'none' })
  if (name !== undefined || file !== undefined || line !== undefined) {
    return JSON.stringify(
      name === undefined && file === undefined && !line
        ? { rest: 'none' }
        : { function: name, file, ...(line && { line }) },
    )
  }
  if (callSite !== undefined) return JSON.stringify({ module, callSite: `0x${callSite.toString(16)}` })
  return module === undefined ? undefined : JSON.stringify({ module })
}

function histogram(values: readonly bigint[]): HistogramResult {
  const bars: HistogramResult['bars'] = []
  for (let bits = 0n; bits < 97n; bits++) {
    const [from, to] = bits === 0n ? [0n, 0n] : [2n ** (bits - 1n), 2n ** bits - 1n]
    const count = values.filter((value) => value >= from && value <= to).length
    if (count > 0) bars.push({ from, to, count })
  }
  const sum = values.reduce((all, value) => all + value, 0n)
  return { count: values.length, sum, mean: values.length === 0 ? 0 : Number(sum) / values.length, bars }
}

const tally = <T>(values: readonly T[]): Map<T, number> =>
  values.reduce((counts, value) => counts.set(value, (counts.get(value) ?? 0) + 1), new Map<T, number>())
const amount = () => ({ blocks: 0, bytes: 0n })
const shares = (): Shares => ({
  allocated: amount(),
  atPeak: amount(),
  leaked: amount(),
  temporary: { heaptrack: amount(), memray: amount() },
})
const add = (to: { blocks: number; bytes: bigint }, bytes: bigint) => {
  to.blocks++
  to.bytes += bytes
}

/** Statistics written down as directly as can be: of plain events, in traces that have a header each. */
export function statisticsOf(traces: readonly { header: TraceHeader; events: readonly TraceEvent[] }[]): Statistics {
  const all = traces.flatMap(({ events }) => events)
  const about = (event: TraceEvent) => ['alloc', 'free', 'realloc', 'existing'].includes(event.kind)
  const [allocated, freed, leaked, overlaps] = [amount(), amount(), amount(), amount()]
  const temporary = { heaptrack: amount(), memray: amount() }
  const [reserved, internal] = [amount(), amount()]
  const none: Peak = { blocks: 0, bytes: 0n, event: 0, allocatedBytes: 0n }
  let [peakBytes, peakBlocks] = [none, none]
  const reallocs = { inPlace: 0, moved: 0, resized: 0, allocated: 0, freed: 0, failed: 0, nothing: 0, unknown: 0 }
  const faults = { unknownFrees: 0, doubleFrees: 0, nullFrees: 0, failedAllocations: 0 }
  const sites = new Map<
    string,
    Shares & {
      ownPeak: Amount
      foreignFrees: number
      lived: { events: bigint; time: bigint }
      live: Amount
      hits: number
      requested: bigint
      taken: bigint
      crossCpu: number
    }
  >()
  const threads = new Map<string, Shares & { events: number; frees: number; foreignFrees: number; recent: Block[] }>()
  const processes = new Map<string, Shares>()
  const sizesOf = new Map<bigint, SizeStatistics>()
  const lastOf = new Map<bigint | undefined, Block | undefined>()
  const moments: Moment[] = []
  let livingAtPeak: Block[] = []
  const mismatches = new Map<string, number>()
  const sizes: bigint[] = []
  const lives: { events: bigint[]; bytes: bigint[]; time: bigint[] } = { events: [], bytes: [], time: [] }
  const resident = { blocks: 0, present: 0n, size: 0n }
  const residentSet = new ResidentOracle()
  let [smallest, crossCpuFrees, number, blockNumber, span] = [0n, 0, 0, 0, 0n]
  const hasCpus = all.some(({ cpu }) => cpu !== undefined)
  const site = (key: string) => {
    if (!sites.has(key))
      sites.set(key, {
        ...shares(),
        ownPeak: amount(),
        foreignFrees: 0,
        lived: { events: 0n, time: 0n },
        live: amount(),
        hits: 0,
        requested: 0n,
        taken: 0n,
        crossCpu: 0,
      })
    return sites.get(key) as NonNullable<ReturnType<typeof sites.get>>
  }
  const thread = (key: string) => {
    if (!threads.has(key)) threads.set(key, { events: 0, ...shares(), frees: 0, foreignFrees: 0, recent: [] })
    return threads.get(key) as NonNullable<ReturnType<typeof threads.get>>
  }
  /** The figures of the process of a thread. */
  const process = (who: string) => {
    const [key] = who.split(' ') as [string]
    if (!processes.has(key)) processes.set(key, shares())
    return processes.get(key) as Shares
  }
  const sizeOf = (size: bigint) => {
    if (!sizesOf.has(size))
      sizesOf.set(size, { size, count: 0, atPeak: 0, leaked: 0, temporary: { heaptrack: 0, memray: 0 } })
    return sizesOf.get(size) as SizeStatistics
  }
  const times: bigint[][] = []
  /** What happened in the traces whose times are used. */
  const timely = { events: 0, allocations: 0, bytes: 0n }

  for (const { header, events } of traces) {
    const { deeds } = blocksByMap(events)
    const blocks = new Map<number, Block>()
    const isTimed = header.timeUnit === traces[0]?.header.timeUnit
    const clock = { first: undefined as bigint | undefined, latest: 0n }
    const moment = () => ({
      events: BigInt(blockNumber),
      time: clock.first === undefined ? 0n : clock.latest - clock.first,
    })
    const leave = (block: Block) => {
      const at = site(block.site)
      at.live.blocks--
      at.live.bytes -= block.size
      at.lived.events += moment().events - block.since.events
      at.lived.time += moment().time - block.since.time
    }
    const vanish = (id: number) => {
      const block = blocks.get(id) as Block
      blocks.delete(id)
      leave(block)
      return block
    }
    const numberBefore = number
    const allocatedBefore = { ...allocated }
    residentSet.begin(peakBytes.event)
    const leak = (block: Block) => {
      const { size, site: at, thread: who } = block
      leave(block)
      for (const one of [leaked, site(at).leaked, thread(who).leaked, process(who).leaked]) add(one, size)
      sizeOf(size).leaked++
    }
    times.push(isTimed ? events.flatMap(({ time }) => time ?? []) : [])
    const liveBytes = () => [...blocks.values()].reduce((sum, { size }) => sum + size, 0n)
    events.forEach((event, e) => {
      const before = liveBytes()
      const blocksBefore = blocks.size
      const residentBefore = residentSet.level
      if (isTimed && event.time !== undefined) {
        clock.first ??= event.time
        clock.latest = clock.latest > event.time ? clock.latest : event.time
      }
      take(event, e)
      moments.push({
        before,
        blocksBefore,
        live: { blocks: blocks.size, bytes: liveBytes() },
        time: isTimed ? event.time : undefined,
        resident: [residentBefore, residentSet.level],
        allocated: { ...allocated },
        frees: freed.blocks,
      })
    })
    function take(event: TraceEvent, e: number): void {
      number++
      const { did, ended: endedId, overwritten } = deeds[e] as (typeof deeds)[number]
      const who =
        event.thread === undefined && event.process === undefined
          ? 'none'
          : `${event.process ?? ''} ${event.thread ?? ''}`
      thread(who).events++
      if (event.kind === 'process-end') {
        for (const id of deeds[e]?.gone ?? []) {
          leak(blocks.get(id) as Block)
          blocks.delete(id)
        }
        lastOf.delete(event.process)
        residentSet.end(String(event.process))
      }
      if (event.kind === 'other' && event.present !== undefined)
        residentSet.take(
          String(event.process),
          { bytes: event.present, live: liveBytes(), event: number, time: isTimed ? event.time : undefined },
          peakBytes.event,
        )
      if (event.kind === 'reserve') add(event.type === 'internal' ? internal : reserved, event.size ?? 0n)
      if (!about(event)) return
      blockNumber++
      const did1 = (name: string) => did.includes(name)
      if (event.kind === 'realloc') {
        const places = event.address !== undefined && event.oldAddress !== undefined
        const isSame = event.outcome === 'none' || (event.outcome !== 'moved' && event.address === event.oldAddress)
        const outcome = did1('unknown')
          ? 'unknown'
          : did1('failed')
            ? 'failed'
            : did1('nothing')
              ? 'nothing'
              : !did1('ended')
                ? 'allocated'
                : !did1('began')
                  ? 'freed'
                  : event.outcome === 'none' || event.outcome === 'moved' || places
                    ? isSame
                      ? 'inPlace'
                      : 'moved'
                    : 'resized'
        reallocs[outcome]++
      } else if (!did1('began') && !did1('ended')) {
        faults[
          event.kind !== 'free'
            ? 'failedAllocations'
            : did1('nothing')
              ? 'nullFrees'
              : did1('again')
                ? 'doubleFrees'
                : 'unknownFrees'
        ]++
      }
      if (did1('unknown')) lastOf.delete(event.process)
      const family = event.api === undefined ? undefined : FAMILY[event.api]
      let old: Block | undefined
      if (endedId !== undefined) {
        old = vanish(endedId)
        add(freed, old.size)
        thread(who).frees++
        if (old.thread !== who) {
          thread(who).foreignFrees++
          site(old.site).foreignFrees++
        }
        const isTemporary = {
          heaptrack: lastOf.get(event.process) === old,
          memray: old.thread === who && thread(who).recent.includes(old),
        }
        for (const by of ['heaptrack', 'memray'] as const) {
          if (!isTemporary[by]) continue
          sizeOf(old.size).temporary[by]++
          for (const one of [
            temporary,
            ...[site(old.site), thread(old.thread), process(old.thread)].map((row) => row.temporary),
          ])
            add(one[by], old.size)
        }
        lastOf.delete(event.process)
        if (family !== undefined && old.family !== undefined && family !== old.family) {
          const pair = `${old.family} ${family}`
          mismatches.set(pair, (mismatches.get(pair) ?? 0) + 1)
        }
        if (event.present !== undefined) {
          resident.blocks++
          resident.present += event.present
          resident.size += old.size
        }
        if (!did1('began') && !old.isUnborn) {
          lives.events.push(BigInt(blockNumber - old.born))
          lives.bytes.push(allocated.bytes - old.clock)
          if (old.time !== undefined && event.time !== undefined && event.time >= old.time)
            lives.time.push(event.time - old.time)
        }
        if (!did1('began')) {
          if (event.cpu !== undefined && old.cpu !== undefined && event.cpu !== old.cpu) {
            crossCpuFrees++
            site(old.site).crossCpu++
          }
        }
      }
      if (!did1('began')) return
      if (overwritten !== undefined) add(overlaps, vanish(overwritten).size)
      const { size = 0n } = event
      add(allocated, size)
      sizes.push(size)
      if (smallest === 0n || size < smallest) smallest = size
      const at = siteOf(event) ?? old?.site ?? '{"rest":"none"}'
      const block: Block = {
        born: old?.born ?? blockNumber,
        size,
        site: at,
        thread: who,
        family: family ?? old?.family,
        cpu: old === undefined ? event.cpu : old.cpu,
        time: old === undefined ? (isTimed ? event.time : undefined) : old.time,
        clock: old?.clock ?? allocated.bytes,
        since: moment(),
        isUnborn: old?.isUnborn ?? event.kind === 'existing',
      }
      blocks.set(endedId ?? e + 1, block)
      // A block that was there before is no call.
      if (event.kind !== 'existing') {
        lastOf.set(event.process, block)
        thread(who).recent = [block, ...thread(who).recent].slice(0, 2)
      }
      sizeOf(size).count++
      const from = site(at)
      add(from.allocated, size)
      add(from.live, size)
      if (from.live.bytes > from.ownPeak.bytes) from.ownPeak = { ...from.live }
      if (event.usable !== undefined && event.size !== undefined) {
        from.hits++
        from.requested += size
        from.taken += event.usable
      }
      add(thread(who).allocated, size)
      add(process(who).allocated, size)
      const live = liveBytes()
      const now: Peak = {
        blocks: blocks.size,
        bytes: live,
        event: number,
        allocatedBytes: allocated.bytes,
        ...(isTimed && event.time !== undefined && { time: event.time }),
      }
      if (live > peakBytes.bytes) {
        peakBytes = now
        livingAtPeak = [...blocks.values()]
      }
      if (blocks.size > peakBlocks.blocks) peakBlocks = now
    }
    for (const block of blocks.values()) leak(block)
    const seen = times.at(-1) as bigint[]
    if (seen.length === 0) continue
    span += max(seen) - min(seen)
    timely.events += number - numberBefore
    timely.allocations += allocated.blocks - allocatedBefore.blocks
    timely.bytes += allocated.bytes - allocatedBefore.bytes
  }

  for (const { size, site: at, thread: who } of livingAtPeak) {
    add(site(at).atPeak, size)
    add(thread(who).atPeak, size)
    add(process(who).atPeak, size)
    sizeOf(size).atPeak++
  }

  const firstTimes = times.find((seen) => seen.length > 0)
  const unit = traces[0]?.header.timeUnit
  const seconds = unit === undefined ? 0 : Number(span) / { ns: 1e9, us: 1e6 }[unit]
  const byCount = (counts: Map<bigint | number, number>) =>
    [...counts].toSorted(
      ([a, n], [b, m]) => m - n || (BigInt.asUintN(32, BigInt(a)) < BigInt.asUintN(32, BigInt(b)) ? -1 : 1),
    )
  const largest = sizes.length === 0 ? 0n : max(sizes)
  const totals = [...sites.values()].reduce(
    ({ hits, requested, taken }, one) => ({
      hits: hits + one.hits,
      requested: requested + one.requested,
      taken: taken + one.taken,
    }),
    { hits: 0, requested: 0n, taken: 0n },
  )
  const overhead = ({ hits, requested, taken }: typeof totals) =>
    hits === 0 ? {} : { overhead: { hits, requested, allocated: taken, wasted: taken - requested } }
  return {
    complete: true,
    identified: true,
    filtered: traces.some(({ header }) => header.filtered === true),
    exact: true,
    traces: traces.length,
    formats: [...new Set(traces.map(({ header }) => header.format))],
    events: number,
    blockEvents: blockNumber,
    kinds: Object.fromEntries(tally(all.map(({ kind }) => kind))),
    apis: Object.fromEntries(tally(all.flatMap(({ api }) => api ?? []))),
    allocated,
    freed,
    leaked,
    peakBytes,
    peakBlocks,
    temporary,
    reallocs,
    faults: { ...faults, overlaps },
    sizes: {
      smallest: sizes.length === 0 ? 0n : min(sizes),
      largest,
      histogram: histogram(sizes),
      exact: [...sizesOf.values()].toSorted((a, b) => b.count - a.count || (a.size < b.size ? -1 : 1)),
    },
    lifetimes: {
      events: histogram(lives.events),
      bytes: histogram(lives.bytes),
      ...(lives.time.length > 0 && { time: histogram(lives.time) }),
    },
    ...(firstTimes && {
      time: {
        ...(unit !== undefined && { unit }),
        first: min(firstTimes),
        last: max(firstTimes),
        span,
        ...(timely.allocations < allocated.blocks && { partial: true }),
        ...(seconds > 0 && {
          rates: {
            events: timely.events / seconds,
            allocations: timely.allocations / seconds,
            bytes: Number(timely.bytes) / seconds,
          },
        }),
      },
    }),
    sites: [...sites].map(([key, one]) => ({
      ...parse(key),
      allocated: one.allocated,
      atPeak: one.atPeak,
      leaked: one.leaked,
      temporary: one.temporary,
      ownPeak: one.ownPeak,
      foreignFrees: one.foreignFrees,
      lived: { events: one.lived.events, ...(firstTimes && { time: one.lived.time }) },
      ...overhead(one),
      ...(hasCpus && { crossCpuFrees: one.crossCpu }),
    })),
    threads: [...threads].map(
      ([key, { events, allocated: own, atPeak, leaked: lost, temporary: brief, frees, foreignFrees }]) => {
        const [process, id] = key === 'none' ? ['', ''] : (key.split(' ') as [string, string])
        return {
          ...(key === 'none' && { rest: 'none' as const }),
          ...(process !== '' && { process: BigInt(process) }),
          ...(id !== '' && { thread: BigInt(id) }),
          events,
          allocated: own,
          atPeak,
          leaked: lost,
          temporary: brief,
          frees,
          foreignFrees,
        }
      },
    ),
    processes: byCount(tally(all.flatMap(({ process }) => process ?? []))).map(([value, events]) => ({
      value: value as bigint,
      events,
      ...process(`${String(value)} `),
    })),
    cpus: byCount(tally(all.flatMap(({ cpu }) => cpu ?? []))).map(([value, events]) => ({
      value: BigInt(value),
      events,
    })),
    ...overhead(totals),
    ...(hasCpus && { crossCpuFrees }),
    mismatches: [...mismatches].map(([pair, count]) => {
      const [allocatedBy, freedBy] = pair.split(' ') as ['malloc', 'new']
      return { allocatedBy, freedBy, count }
    }),
    ...(resident.blocks > 0 && { resident }),
    ...residentSet.result(peakBytes.event),
    mpatrol: {
      allocated,
      freed,
      unfreed: { blocks: allocated.blocks - freed.blocks, bytes: allocated.bytes - freed.bytes },
      peak: { blocks: peakBlocks.blocks, bytes: peakBytes.bytes },
      reserved,
      internal,
      smallest,
      largest,
    },
    full: [],
    timeline: timelineOf(moments),
  }
}

function min(values: readonly bigint[]): bigint {
  return values.reduce((least, value) => (value < least ? value : least))
}

function max(values: readonly bigint[]): bigint {
  return values.reduce((most, value) => (value > most ? value : most))
}
