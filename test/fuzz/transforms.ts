import { BATCH_EVENTS, type EventBatch } from '../../lib/event/batch.js'
import { TraceError } from '../../lib/event/error.js'
import { ALL_GROUP_FIELDS, APIS, Kind, KINDS } from '../../lib/event/fields.js'
import type { BatchTransform } from '../../lib/event/stage.js'
import { SortBuffer } from '../../lib/order/sort-buffer.js'
import { SortKeys } from '../../lib/order/sort-keys.js'
import { ORDER_FIELDS } from '../../lib/order/order-fields.js'
import { FAULTS, PARTITIONS } from '../../lib/transforms/option-values.js'
import { Filter, type FilterOptions } from '../../lib/transforms/filter.js'
import { Mapper, type MapOptions } from '../../lib/transforms/map.js'
import { LostCount } from '../../lib/event/lost-events.js'
import { Merger } from '../../lib/transforms/merge.js'
import { chrome } from '../../lib/exports/chrome.js'
import { collapsed } from '../../lib/exports/collapsed.js'
import { dhat } from '../../lib/exports/dhat.js'
import { massif } from '../../lib/exports/massif.js'
import { pprof } from '../../lib/exports/pprof.js'
import { speedscope } from '../../lib/exports/speedscope.js'
import { ProfileCollector } from '../../lib/transforms/profile/collector.js'
import { ReportCollector } from '../../lib/transforms/report/collector.js'
import { Repair } from '../../lib/transforms/repair/repair.js'
import { Partitioner } from '../../lib/transforms/split.js'
import { LifetimeTrainer } from '../../lib/transforms/simulate/lifetimes/trainer.js'
import { GENERAL, POLICIES, WHOLE, type SimulateOptions } from '../../lib/transforms/simulate/policies.js'
import { Simulator } from '../../lib/transforms/simulate/simulator.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { Verifier } from '../../lib/transforms/verify.js'
import { SpacesError } from '../../lib/blocks/address-spaces.js'
import { expectSame, textOf } from './codecs.js'
import { Digest } from './digest.js'
import { recutBatches, transform, transformRecycling } from './drive.js'
import { Failure } from './failure.js'
import { ANYTHING, cutIntoBatches, randomEvents, type Shape } from './events.js'
import type { Random } from './random.js'
import type { Target } from './target.js'

const HEADER = { format: 'unknown', timeUnit: 'ns' } as const

/** Blocks that are allocated and freed, and nothing else. */
const BLOCKS: Shape = { alloc: ANYTHING.alloc ?? 0, free: ANYTHING.free ?? 0, realloc: ANYTHING.realloc ?? 0 }

/** Tables of sites and sizes take ten times as long as events do. */
const COSTLY: Readonly<Record<string, number>> = { filter: 2, repair: 2, stats: 1 / 2, profile: 1 / 2, report: 1 / 8 }

type Check = (batches: readonly EventBatch[], random: Random) => void

/** Random events through each transform: once as they are, once in other batches, whose memory is used again. */
export const TRANSFORM_TARGETS: readonly Target[] = Object.entries<Check>({
  filter: checkFilter,
  map: checkMap,
  split: checkSplit,
  merge: checkMerge,
  sort: checkSort,
  verify: checkVerify,
  repair: checkRepair,
  simulate: checkSimulate,
  stats: checkStatistics,
  profile: checkProfile,
  report: checkReport,
}).map(([name, check]) => ({
  name,
  weight: COSTLY[name] ?? 4,
  make(random) {
    const events = randomEvents(
      random,
      random.oneIn(2) ? BLOCKS : ANYTHING,
      random.oneIn(20) ? 400 : 40,
      ALL_GROUP_FIELDS,
    )
    const batches = cutIntoBatches(random, events, HEADER)
    return { extension: '.ndjson', bytes: () => textOf(batches), check: () => checkClear(check, batches, random) }
  },
}))

/** Blocks of several processes that cannot be told apart are an error, but only where addresses are no real ones. */
function checkClear(check: Check, batches: readonly EventBatch[], random: Random): void {
  try {
    check(batches, random)
  } catch (error) {
    if (!(error instanceof SpacesError) || areSpacesClear(batches)) throw error
  }
}

function checkStage(make: () => BatchTransform, batches: readonly EventBatch[], random: Random): Digest {
  const plain = transform(make(), batches)
  expectSame('in other batches', plain, transformRecycling(make(), batches, random))
  if (plain.error !== undefined) throw plain.error
  return plain.digest
}

function checkFilter(batches: readonly EventBatch[], random: Random): void {
  const some = <T>(value: () => T): T | undefined => (random.oneIn(3) ? value() : undefined)
  const range = () => {
    const [from, to] = [random.u64(), random.u64()]
    return from < to ? { from, to } : { from: to }
  }
  const values = {
    kind: some(() => [random.pick(KINDS), random.pick(KINDS)]),
    api: some(() => random.pick(APIS)),
    thread: some(() => [random.u64(), 0n, 1n]),
    size: some(() => [range(), range()]),
    address: some(range),
    time: some(range),
    function: some(() => random.pick(['main', /a/])),
    stack: some(() => 'name1'),
  }
  const options = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as FilterOptions
  const kept = checkStage(() => new Filter(options), batches, random)
  const others = checkStage(() => new Filter({ ...options, invert: true }), batches, random)
  const all = countOf(batches)
  // Events that say what the recorder lost may be kept by both.
  const lost = new LostCount()
  for (const batch of batches) lost.add(batch)
  const twice = kept.events + others.events - all
  if (twice < 0 || twice > lost.places) throw new Failure(`${kept.events} kept, ${others.events} not, of ${all}`)
  if (!random.oneIn(4)) return
  checkStage(() => new Filter({ ...options, lifetimes: true }), batches, random)
  if (areSpacesClear(batches)) checkLifetimes(options, batches)
}

/** Of a trace without faults, whole blocks have none either. */
function checkLifetimes(options: FilterOptions, batches: readonly EventBatch[]): void {
  const { batches: repaired } = transform(new Repair(), batches)
  const { batches: kept } = transform(new Filter({ ...options, lifetimes: true }), repaired)
  // Sequence numbers wrap, so that some of those that rise need not rise.
  const verifier = new Verifier({ allow: ['time-backwards'] })
  for (const batch of kept) verifier.check(batch)
  if (verifier.counts.size > 0)
    throw new Failure(`whole blocks have faults: ${verifier.findings.map(({ what }) => what).join('; ')}`)
}

function checkMap(batches: readonly EventBatch[], random: Random): void {
  const options: MapOptions = {
    ...(random.oneIn(2) && { numberThreads: true }),
    ...(random.oneIn(3) && { anonymize: { key: 'k', addresses: random.oneIn(2), names: random.oneIn(2) } }),
    ...(random.oneIn(3) && { rebase: { from: random.u64(), to: random.u64() } }),
    ...(random.oneIn(3) && { drop: ['time', 'stack', 'fields'] as const }),
    ...(random.oneIn(3) && { set: { process: random.u64(), function: 'f', stack: ['a', 'b'] } }),
  }
  let events: number
  try {
    ;({ events } = checkStage(() => new Mapper(options), batches, random))
  } catch (error) {
    // Some addresses cannot be moved so far.
    const isRebased = options.rebase !== undefined && error instanceof TraceError
    if (isRebased && error.code === 'ERR_TRACE_UNENCODABLE') return
    throw error
  }
  if (events !== countOf(batches)) throw new Failure(`${events} events of ${countOf(batches)}`)
}

const isProcessEnd = (kind: number) => kind === Kind['process-end']
const isCommon = (kind: number) => kind === Kind.lost || kind === Kind.other

function checkSplit(batches: readonly EventBatch[], random: Random): void {
  const [by, shards] = [random.pick(PARTITIONS), 1 + random.below(4)]
  const options = { by, ...(by === 'shard' && { shards }), lifetimes: random.oneIn(2) }
  const parts = (all: readonly EventBatch[]) => {
    const partitioner = new Partitioner(options)
    const digests = new Map<string, Digest>()
    for (const batch of all) {
      for (const { key, batch: part } of partitioner.partition(batch)) {
        const digest = digests.get(key) ?? new Digest()
        digests.set(key, digest)
        digest.add(part)
      }
    }
    return [...digests].map(([key, { value, events }]) => ({ key, value, events }))
  }
  const plain = parts(batches)
  const events = plain.reduce((sum, part) => sum + part.events, 0)
  // The end of a process may be in each part.
  const ends = batches.reduce((sum, { kind, count }) => sum + kind.subarray(0, count).filter(isProcessEnd).length, 0)
  const more = events - countOf(batches)
  // A block may end where one of another part begins.
  const frees = options.lifetimes || options.by === 'shard' ? countOf(batches) : 0
  // What concerns all parts is in each, once after others of its events.
  const hasCommon = batches.some(({ kind, count }) => kind.subarray(0, count).some(isCommon))
  const common = hasCommon ? 2 * countOf(batches) : 0
  if (more < 0 || more > ends * (plain.length - 1) + frees + common)
    throw new Failure(`${events} events in the parts of ${countOf(batches)}`)
  const recut = JSON.stringify(parts(recutBatches(batches, random)))
  if (recut !== JSON.stringify(plain)) throw new Failure(`in other batches: ${recut}, not ${JSON.stringify(plain)}`)
}

function checkMerge(batches: readonly EventBatch[], random: Random): void {
  const inputs = Array.from({ length: 1 + random.below(3) }, () => [] as EventBatch[])
  for (const batch of batches) random.pick(inputs).push(batch)
  // Sequence numbers of inputs have an order only if they are less than 2^31 apart.
  const areNear = batches.every(({ sequence, count }) => sequence.subarray(0, count).every(isNear))
  const by = areNear ? random.pick(['time', 'sequence'] as const) : 'time'
  const merged = (all: readonly (readonly EventBatch[])[]) => {
    const digest = new Digest()
    const queues = all.map((input) => input[Symbol.iterator]())
    const merger = new Merger(
      all.map((_, i) => String(i)),
      { by, window: 64 },
    )
    for (;;) {
      for (let batch = merger.next(); batch !== null; batch = merger.next()) digest.add(batch)
      const input = merger.wants()
      if (input < 0) return digest
      const next = (queues[input] as ArrayIterator<EventBatch>).next()
      if (next.done === true) merger.end(input)
      else merger.feed(input, next.value)
    }
  }
  const plain = merged(inputs)
  if (plain.events !== countOf(batches)) throw new Failure(`${plain.events} events of ${countOf(batches)}`)
  const recut = merged(inputs.map((input) => recutBatches(input, random)))
  if (recut.value !== plain.value) throw new Failure(`in other batches: ${recut.value}, not ${plain.value}`)
}

function isNear(number: number): boolean {
  return Math.abs(number) < 2 ** 30
}

function checkSort(batches: readonly EventBatch[], random: Random): void {
  const by = random.pick(ORDER_FIELDS)
  const sorted = (all: readonly EventBatch[]) => {
    const held = new SortBuffer()
    const digest = new Digest()
    const keys = new SortKeys(by)
    for (const batch of all) if (batch.count > 0) held.add(batch, keys.of(batch))
    let last = -1n
    for (const part of held.inOrder(HEADER, BATCH_EVENTS)) {
      for (const key of new BigUint64Array(part.keys.slice().buffer).subarray(0, part.batch.count)) {
        if (key < last) throw new Failure(`out of order by ${by}`)
        last = key
      }
      digest.add(part.batch)
    }
    return digest
  }
  const plain = sorted(batches)
  if (plain.events !== countOf(batches)) throw new Failure(`${plain.events} events of ${countOf(batches)}`)
  const recut = sorted(recutBatches(batches, random))
  if (recut.value !== plain.value) throw new Failure(`in other batches: ${recut.value}, not ${plain.value}`)
}

function checkVerify(batches: readonly EventBatch[], random: Random): void {
  const allow = FAULTS.filter(() => random.oneIn(6))
  const found = (all: readonly EventBatch[]) => {
    const verifier = new Verifier({ allow, places: 3 })
    for (const batch of all) verifier.check(batch)
    return JSON.stringify([[...verifier.counts], verifier.findings])
  }
  const [plain, recut] = [found(batches), found(recutBatches(batches, random))]
  if (plain !== recut) throw new Failure(`in other batches: ${recut}, not ${plain}`)
}

function checkRepair(batches: readonly EventBatch[], random: Random): void {
  const repaired = transform(new Repair(), batches)
  expectSame('in other batches', repaired, transform(new Repair(), recutBatches(batches, random)))
  if (!areSpacesClear(batches)) return
  const verifier = new Verifier()
  for (const batch of repaired.batches) verifier.check(batch)
  if (verifier.counts.size > 0)
    throw new Failure(`a repaired trace has faults: ${verifier.findings.map(({ what }) => what).join('; ')}`)
  const again = new Repair()
  expectSame('repaired again', repaired, transform(again, repaired.batches))
}

const JEMALLOC_OPTIONS: readonly Partial<SimulateOptions>[] = [
  {},
  { tcache: 'off' },
  { jemalloc: '3', bits: 32 },
  { jemalloc: '4', bits: 64 },
  { jemalloc: '4', bits: 32, tcache: 'off' },
]

/** Blocks that a policy has placed do not overlap, and no policy needs less memory than the requested bytes. */
function checkSimulate(batches: readonly EventBatch[], random: Random): void {
  const policy = random.pick(POLICIES)
  const isFit = policy.endsWith('fit')
  const isFixed = policy === 'ideal' || WHOLE.includes(policy)
  let options: SimulateOptions = {
    policy,
    ...(isFit && random.oneIn(2) && { coalescing: 'deferred' as const }),
    ...(isFit && random.oneIn(2) && { trim: random.pick([0, 4096]) }),
    ...(policy === 'first-fit' && { list: random.pick(['address', 'lifo', 'fifo'] as const) }),
    ...(policy === 'ptmalloc' && { glibc: `2.${23 + random.below(21)}` }),
    ...(policy === 'jemalloc' && random.pick(JEMALLOC_OPTIONS)),
    ...(!isFixed && random.oneIn(2) && { header: random.pick([0, 4, 16]), alignment: random.pick([8, 64]) }),
  }
  // Larger sizes are an error, which is tested by some inputs.
  const isSized = !random.oneIn(8)
  const sizes = new Mapper({
    expression: (event) => {
      if (isSized && event.size !== undefined) event.size &= 0xffffn
      if (isSized && event.alignment !== undefined) event.alignment &= 0xfffn
    },
  })
  const { batches: sized } = transform(sizes, batches)
  if (policy === 'bump' && random.oneIn(2) && areSpacesClear(batches))
    options = { ...options, ...predicted(sized, random) }
  const simulated = (all: readonly EventBatch[]) => {
    const simulator = new Simulator(options)
    const out = transform(simulator, all)
    // Otherwise each has a memory of its own until the garbage is collected.
    simulator.dispose()
    return out
  }
  const plain = simulated(sized)
  expectSame('in other batches', plain, simulated(recutBatches(sized, random)))
  if (policy === 'ideal' || !areSpacesClear(batches)) return
  const verifier = new Verifier()
  for (const batch of plain.batches) verifier.check(batch)
  const overlaps = verifier.counts.get('overlap') ?? 0
  if (overlaps > 0) throw new Failure(`${policy}: ${verifier.findings.map(({ what }) => what).join('; ')}`)
  if ((verifier.counts.get('live-address') ?? 0) > 0) throw new Failure(`${policy}: a live address is allocated again`)
}

/** Arenas for blocks that are short-lived in a trace. */
function predicted(batches: readonly EventBatch[], random: Random): Partial<SimulateOptions> {
  const trainer = new LifetimeTrainer({ threshold: random.pick([0, 1000, 32_768]) })
  for (const batch of batches) trainer.add(batch)
  return {
    predict: trainer.finish(),
    general: random.pick(GENERAL),
    arenas: 1 + random.below(5),
    arenaSize: random.pick([64, 100, 4096, 65_536]),
  }
}

/** Addresses of no more bits than processors have today, with their sign. */
const MAX_ADDRESS = 2n ** 47n

/** Whether address spaces can be told apart: this is done by bits that no real address has. */
function areSpacesClear(batches: readonly EventBatch[]): boolean {
  const events = batches.flatMap((batch) => [...batch])
  if (events.every(({ process, api }) => process === undefined && api !== 'pages')) return true
  const isReal = (address = 0n) => address < MAX_ADDRESS || address >= 2n ** 64n - MAX_ADDRESS
  return events.every(({ address, oldAddress }) => isReal(address) && isReal(oldAddress))
}

function checkStatistics(batches: readonly EventBatch[], random: Random): void {
  const statistics = (all: readonly EventBatch[]) => {
    const collector = new StatisticsCollector()
    for (const batch of all) collector.add(batch)
    return JSON.stringify(collector.finish(), (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
  }
  const [plain, recut] = [statistics(batches), statistics(recutBatches(batches, random))]
  if (plain !== recut) throw new Failure(`in other batches: ${recut}, not ${plain}`)
}

const WRITERS = [pprof, collapsed, speedscope, dhat, massif, chrome]

function checkProfile(batches: readonly EventBatch[], random: Random): void {
  const threadRoot = random.oneIn(2)
  const at = random.oneIn(2) ? 'peak' : 'end'
  const writers = [random.pick(WRITERS), random.pick(WRITERS)]
  const files = (all: readonly EventBatch[]) => {
    const collector = new ProfileCollector({ threadRoot, at })
    for (const batch of all) collector.add(batch)
    const profile = collector.finish()
    return writers.map((write) => Buffer.concat([...write(profile)]).toString('latin1'))
  }
  const [plain, recut] = [files(batches), files(recutBatches(batches, random))]
  if (plain.join() !== recut.join()) throw new Failure(`in other batches: ${recut.join()}, not ${plain.join()}`)
}

function checkReport(batches: readonly EventBatch[], random: Random): void {
  const report = (all: readonly EventBatch[]) => {
    const collector = new ReportCollector()
    for (const batch of all) collector.add(batch)
    return collector.finish().data()
  }
  const data = report(batches)
  const { summary, sites, tree, generations, threads } = data
  const [plain, recut] = [JSON.stringify(data), JSON.stringify(report(recutBatches(batches, random)))]
  if (plain !== recut) throw new Failure(`in other batches: ${recut}, not ${plain}`)
  const sums = {
    [`${summary.allocated.bytes}`]: [sites.allocatedBytes, tree.allocatedBytes, generations.allocatedBytes],
    [`${summary.leaked.blocks}`]: [sites.endBlocks, tree.endBlocks, generations.endBlocks],
    [`${summary.freed.blocks}`]: [threads.frees, threads.matrix.blocks],
  }
  for (const [sum, columns] of Object.entries(sums)) {
    for (const column of columns) {
      const own = column.reduce((all, value) => all + BigInt(value), 0n)
      if (`${own}` !== sum) throw new Failure(`a column sums up to ${own}, not ${sum}: ${plain}`)
    }
  }
}

function countOf(batches: readonly EventBatch[]): number {
  return batches.reduce((sum, { count }) => sum + count, 0)
}
