import { functionOfFrame } from '../../lib/event/frame.js'
import { intentsOf, type Intent } from '../blocks/blocks.js'
import type { TraceEvent } from '../../lib/event/batch.js'
import type { FilterOptions } from '../../lib/transforms/filter.js'
import type { NamePattern } from '../../lib/transforms/predicates/match.js'
import type { Range } from '../../lib/transforms/predicates/ranges.js'

const many = <T>(option: T | readonly T[]): readonly T[] =>
  Array.isArray(option) ? (option as readonly T[]) : [option as T]
const inside = (ranges: Range | readonly Range[], value: bigint | undefined) =>
  value !== undefined && many(ranges).some(({ from = 0n, to = value }) => value >= from && value <= to)
const among = (values: unknown, value: unknown) =>
  value !== undefined && many(values).some((wanted) => String(wanted) === String(value))
const matches = (pattern: NamePattern, name: string) =>
  typeof pattern === 'string' ? pattern === name : new RegExp(pattern).test(name)
const named = (patterns: NamePattern | readonly NamePattern[], name: string | undefined) =>
  name !== undefined && many(patterns).some((pattern) => matches(pattern, name))

/** Whether event number `n` meets all criteria, written down as directly as can be. */
export function meets(event: TraceEvent, n: number, options: FilterOptions): boolean {
  const { thread, process, heap, cpu, kind, api, size, address, time, events, file, module, type, stack } = options
  const { weight, device, stream, arena } = options
  return (
    (thread === undefined || among(thread, event.thread)) &&
    (process === undefined || among(process, event.process ?? 'none')) &&
    (heap === undefined || among(heap, event.heap)) &&
    (cpu === undefined || among(cpu, event.cpu)) &&
    (kind === undefined || among(kind, event.kind)) &&
    (api === undefined || among(api, event.api)) &&
    (size === undefined || inside(size, event.size)) &&
    (address === undefined || inside(address, event.address)) &&
    (time === undefined || inside(time, event.time)) &&
    (events === undefined || inside(events, BigInt(n))) &&
    (options.function === undefined || named(options.function, event.function)) &&
    (file === undefined || named(file, event.file)) &&
    (module === undefined || named(module, event.module)) &&
    (type === undefined || named(type, event.type)) &&
    (weight === undefined || inside(weight, event.weight)) &&
    (device === undefined || among(device, event.device)) &&
    (stream === undefined || inside(stream, event.stream)) &&
    (arena === undefined || named(arena, event.arena)) &&
    (stack === undefined ||
      (event.stack ?? []).some((frame) => named(stack, frame) || named(stack, functionOfFrame(frame))))
  )
}

/** Whether a filter keeps event number `n`. Criteria on what a `lost` event does not have do not concern it. */
export function keeps(event: TraceEvent, n: number, options: FilterOptions): boolean {
  const invert = options.invert ?? false
  if (event.kind !== 'lost') return meets(event, n, options) !== invert
  const concerning = (['thread', 'process', 'heap', 'cpu', 'time', 'events', 'kind'] as const).filter(
    (name) => options[name] !== undefined && (name === 'events' || name === 'kind' || event[name] !== undefined),
  )
  const some = Object.fromEntries(concerning.map((name) => [name, options[name]]))
  return concerning.length === 0 || meets(event, n, some) !== invert
}

/**
 * Follows blocks over plain events: the label of an event is that of its block, else `own`. Labels that are undefined
 * are not followed.
 */
export function follow<Label>(
  events: readonly TraceEvent[],
  own: (event: TraceEvent, n: number) => Label | undefined,
  isHatf = false,
): (Label | undefined)[] {
  return walk(events, own, isHatf).map(({ result }) => result)
}

/** What is kept of blocks, from the first allocation or realloc that `own` chooses; and the other events it chooses. */
export function keepWhole(events: readonly TraceEvent[], own: (event: TraceEvent, n: number) => boolean): TraceEvent[] {
  const walked = walk(events, (event, n) => own(event, n) || undefined)
  return events.flatMap((event, i) => {
    const { result, followed, intent, over } = walked[i] as Walked<true>
    if (result === undefined) return over === undefined ? [] : [asFree(event)]
    if (event.kind === 'free') return followed === true ? [event] : []
    if (followed === true || event.kind !== 'realloc') return [event]
    if (intent?.begins === undefined) return []
    return [intent.ends.length > 0 ? asAllocation(event) : event]
  })
}

/** For each event, the label of the block that it ends because another one, of another label, begins there. */
export function overlapped<Label>(
  events: readonly TraceEvent[],
  own: (event: TraceEvent, n: number) => Label | undefined,
): (Label | undefined)[] {
  return walk(events, own).map(({ over, result }) => (over === result ? undefined : over))
}

/** The free that stands for the end of a block where another one begins. */
export function asFree(event: TraceEvent): TraceEvent {
  const { process, thread, cpu, node, time, heap, index, address, oldAddress, api } = event as TraceEvent & {
    oldAddress?: bigint
  }
  const place = address ?? (index === undefined ? oldAddress : undefined)
  const all = { process, thread, cpu, node, time, heap, index, address: place, ...(api === 'pages' && { api }) }
  const known = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return { kind: 'free', ...known } as TraceEvent
}

function asAllocation(event: TraceEvent): TraceEvent {
  const { oldAddress, address, index, api, outcome: _, ...rest } = event as TraceEvent & { outcome?: string }
  const place = address ?? (index === undefined ? oldAddress : undefined)
  return {
    ...rest,
    ...(index !== undefined && { index }),
    ...(place !== undefined && { address: place }),
    ...(api !== undefined && api !== 'realloc' && { api }),
    kind: 'alloc',
  } as TraceEvent
}

interface Walked<Label> {
  result: Label | undefined
  /** The label of the block before the event. */
  followed: Label | undefined
  intent: Intent | undefined
  /** The label of another block that was live where one begins. */
  over?: Label | undefined
}

function walk<Label>(
  events: readonly TraceEvent[],
  own: (event: TraceEvent, n: number) => Label | undefined,
  isHatf = false,
): Walked<Label>[] {
  const live = new Map<string, Label | undefined>()
  let freed: { at: string; label: Label } | undefined
  let allocated: string | undefined
  const intents = intentsOf(events)
  return events.map((event, i) => {
    const label = own(event, i + 1)
    const intent = intents[i]
    if (intent === undefined) return { result: label, followed: undefined, intent }
    const { ends, begins, leaves, isIndexed } = intent
    const found = ends.find((one) => live.has(one))
    let followed = live.get(found ?? leaves ?? '')
    if (isHatf && event.kind === 'realloc' && !isIndexed && followed === undefined) {
      // Its malloc or its free may have been recorded just before it.
      if (begins !== undefined && begins === allocated) followed = live.get(begins)
      if (freed !== undefined && [ends[0], leaves].includes(freed.at)) followed ??= freed.label
    }
    if (found !== undefined) live.delete(found)
    if (event.kind === 'free' && followed !== undefined && !isIndexed) freed = { at: ends[0], label: followed }
    const result = followed ?? label
    const walked = { result, followed, intent }
    if (begins === undefined) return walked
    const over = live.get(begins)
    live.set(begins, result)
    if (freed?.at === begins) freed = undefined
    if (event.kind !== 'realloc' && result !== undefined && !isIndexed) allocated = begins
    return { ...walked, over }
  })
}
