import type { EventBatch } from '../event/batch.js'
import { NO_HEADER, type TraceHeader } from '../event/header.js'
import { givenHeader } from '../event/header-check.js'
import { passOn } from '../event/pass-on.js'
import type { FaultName } from '../transforms/option-values.js'
import type { EventFunction } from '../transforms/expression.js'
import { Filter, type FilterOptions } from '../transforms/filter.js'
import { Mapper, type MapOptions } from '../transforms/map.js'
import type { SimulateOptions } from '../transforms/simulate/policies.js'
import type { SimulationResult } from '../transforms/simulate/result.js'
import { Simulator } from '../transforms/simulate/simulator.js'
import { Repair, type RepairName, type RepairOptions } from '../transforms/repair/repair.js'
import { Verifier, type Finding, type VerifyOptions } from '../transforms/verify.js'
import { transformStream } from './stage.js'
import type { EventStream, StreamEvents } from './types.js'

/**
 * Keeps some of the events: those that meet all criteria, or for which a function returns a truthy value. Criteria are
 * much faster than a function; both together are `{ kind: 'alloc', where: (event) => ... }`.
 *
 * @example
 * filter({ kind: 'alloc', size: parseRange('4K..'), lifetimes: true })
 *
 * @example
 * filter((event) => event.kind === 'alloc' && event.file?.startsWith('vm/'))
 *
 * @throws RangeError for unknown options and values that no event can have; an exception of the function is the
 *   stream's error, a TraceError with the number of the event
 */
export function filter(criteria: FilterOptions | NonNullable<FilterOptions['where']>): EventStream<'events'> {
  const options = typeof criteria === 'function' ? { where: criteria } : criteria
  return transformStream(new Filter(options), { name: 'filter()' })
}

/**
 * Changes events by options, or by a function, which is much slower. The function may change the event or return
 * another one, or a list of them; with `false` or `null` the event is dropped.
 *
 * @example
 * map({ anonymize: { key: 'secret' }, numberThreads: true })
 *
 * @example
 * map((event) => ({ ...event, thread: 1n }))
 *
 * @throws RangeError for unknown options and values that do not fit; what the function throws is the stream's error, a
 *   TraceError with the number of the event
 */
export function map(changes: MapOptions | EventFunction): EventStream<'events'> {
  const options = typeof changes === 'function' ? { expression: changes } : changes
  return transformStream(new Mapper(options), { name: 'map()' })
}

/**
 * Makes batches from plain events. Streams of events take plain events too; use this to give them a header, or to read
 * the batches yourself.
 *
 * @example
 * const allocations = Readable.from([{ kind: 'alloc', address: 16n, size: 8n, time: 1n }])
 * await pipeline(allocations, fromEvents({ format: 'mine', timeUnit: 'ns' }), ndjson.encode(), process.stdout)
 *
 * @param header the header of the trace; by default an empty one
 * @throws TypeError or RangeError for a header that no trace can have, as none could be read back
 */
export function fromEvents(header: TraceHeader = NO_HEADER): EventStream<'events'> {
  return transformStream(
    passOn(() => {}),
    { name: 'fromEvents()', header: givenHeader(header, 'fromEvents()') },
  )
}

/** The results of checking a trace. */
export interface VerifyResult {
  /** The number of checked events. */
  readonly events: number
  /** The number of events that say that the recorder lost others. */
  readonly lost: number
  /** The number of events that were lost, as far as those events have a number. */
  readonly lostEvents: number
  /** The number of times each fault was found; faults that were not found are absent. */
  readonly counts: ReadonlyMap<FaultName, number>
  /** The first places of each fault, in the order of the trace. */
  readonly findings: readonly Finding[]
}

/** The additional events of `verify`. */
interface VerifyEvents extends StreamEvents<EventBatch> {
  finding: [finding: Finding]
}

/** A stream that checks its events. */
export interface VerifyStream extends EventStream<'events', VerifyEvents> {
  /** The results so far; at the end, all results. */
  result(): VerifyResult
}

/**
 * Checks a trace as it passes: frees of unknown blocks, double frees, overlaps and so on (see `FAULTS`). Events pass
 * unchanged. A fault is not an error of the stream: the first places of each are emitted as `finding`. Truncation is an
 * error of the stream that decodes the trace. Memory grows with the number of live blocks.
 *
 * @example
 * const check = verify({ allow: ['zero-size'] })
 * check.on('finding', ({ event, what }) => console.error(event, what))
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), check, hatf.encode(), createWriteStream('app.hatf'))
 * console.log(check.result().counts)
 *
 * @throws RangeError for unknown options
 */
export function verify(options: VerifyOptions = {}): VerifyStream {
  const verifier = new Verifier(options)
  let faults = 0
  let emitted = 0
  const look = (batch: EventBatch): void => {
    verifier.check(batch)
    let now = 0
    for (const n of verifier.counts.values()) now += n
    if (now === faults) return
    faults = now
    // The findings of a batch follow the findings of earlier batches.
    const { findings } = verifier
    while (emitted < findings.length) stream.emit('finding', findings[emitted++])
  }
  const result = () => ({
    events: verifier.events,
    lost: verifier.lost.places,
    lostEvents: verifier.lost.events,
    counts: new Map(verifier.counts),
    findings: verifier.findings,
  })
  const stream = transformStream(passOn(look, { dispose: () => verifier.dispose() }), { name: 'verify()' })
  return Object.assign(stream, { result }) as object as VerifyStream
}

export interface RepairStream extends EventStream<'events'> {
  /** The changes so far, with counts; see `REPAIRS`. */
  result(): ReadonlyMap<RepairName, number>
}

/**
 * Repairs a trace so that `verify` finds nothing in it: moves late frees, removes impossible events, and adds missing
 * frees; see `Repair`. Memory grows with the number of live blocks, and with the window.
 *
 * @example
 * const repaired = repair()
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), repaired, mtrc.encode(), createWriteStream('fixed.mtrc'))
 * console.log(repaired.result())
 *
 * @throws RangeError for unknown options
 */
export function repair(options: RepairOptions = {}): RepairStream {
  const stage = new Repair(options)
  const result = () => new Map(stage.changes)
  return Object.assign(transformStream(stage, { name: 'repair()' }), { result }) as object as RepairStream
}

/** A stream that gives its events the addresses of a simulated allocator. */
export interface SimulateStream extends EventStream<'events'> {
  /** The figures of each trace so far; at the end, of all. */
  results(): readonly SimulationResult[]
}

/**
 * Gives every block the address that it would have under a policy of allocation, so that everything after it sees that
 * heap. Frees of blocks that are not live lose their address. With the policy `ideal`, which has no addresses, the
 * events pass unchanged. Memory grows with the number of live blocks.
 *
 * @example
 * const heap = simulate({ policy: 'best-fit' })
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), heap, mtrc.encode(), createWriteStream('best.mtrc'))
 * console.log(heap.results()[0]?.fragmentation.ofMaxima)
 *
 * @throws RangeError for options that are unknown, out of range, or of another policy. A trace that does not say which
 *   blocks its events are about, or whose heap would have more than 2^45 bytes, is an error of the stream.
 */
export function simulate(options: SimulateOptions): SimulateStream {
  const stage = new Simulator(options)
  const stream = transformStream(stage, { name: 'simulate()' })
  return Object.assign(stream, { results: () => stage.results() }) as object as SimulateStream
}
