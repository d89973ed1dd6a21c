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
  return (
    (thread === undefined || among(thread, event.thread)) &&
    (process === undefined || among(process, event.process)) &&
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
    (stack === undefined || (event.stack ?? []).some((frame) => named(stack, frame)))
  )
}

/**
 * Follows blocks over plain events: the label of an event is that of its block, else `own`. Labels that are undefined
 * are not followed.
 */
export function follow<Label>(
  events: readonly TraceEvent[],
  own: (event: TraceEvent, n: number) => Label | undefined,
): (Label | undefined)[] {
  const live = new Map<string, Label>()
  let freed: { at: string; label: Label } | undefined
  let allocated: string | undefined
  const place = (label: Label | undefined, at: string | undefined) => {
    if (at === undefined) return
    if (label === undefined) live.delete(at)
    else live.set(at, label)
    if (freed?.at === at) freed = undefined
  }
  return events.map((event, i) => {
    const byIndex = event.index !== undefined
    const at = byIndex ? `index ${event.index}` : event.address ? `address ${event.address}` : undefined
    const label = own(event, i + 1)
    switch (event.kind) {
      case 'alloc':
      case 'existing':
        place(label, at)
        if (!byIndex && at !== undefined) {
          if (label !== undefined) allocated = at
        }
        return label
      case 'free': {
        const followed = at === undefined ? undefined : live.get(at)
        if (at === undefined || followed === undefined) return label
        live.delete(at)
        if (!byIndex) freed = { at, label: followed }
        return followed
      }
      case 'realloc': {
        const noNew = !event.address
        const ends = event.outcome === 'freed' || (event.outcome !== 'none' && noNew && !event.size)
        const hasOld = event.outcome !== 'allocated' && event.oldAddress
        const old = byIndex ? at : hasOld ? `address ${event.oldAddress}` : undefined
        let followed = old === undefined ? undefined : live.get(old)
        const wasLive = followed !== undefined
        if (followed === undefined && !byIndex) {
          if (at !== undefined && at === allocated) followed = live.get(at)
          if (followed === undefined && old !== undefined && freed?.at === old) followed = freed.label
        }
        const result = followed ?? label
        if (ends) {
          if (wasLive) live.delete(old as string)
        } else if (at !== undefined) {
          if (wasLive) live.delete(old as string)
          place(result, at)
        } else if (event.outcome === 'none') {
          place(result, old)
        }
        return result
      }
      default:
        return label
    }
  })
}
