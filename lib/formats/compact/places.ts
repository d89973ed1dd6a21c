import type { TraceHeader } from '../../event/header.js'
import type { CompactLevel } from './layout.js'
import * as Layout from './layout.js'

/** The numbers of traces, blocks and events, in total or before a place. */
export interface Totals {
  readonly traces: number
  readonly blocks: number
  readonly events: number
}

/** A place in a file at which a reader can begin: a trace that needs nothing before it, or a checkpoint. */
export interface Place extends Totals {
  /** The offset of the section in its file. */
  readonly offset: number
  /** The offset of the trace section that applies there; the same for a trace. */
  readonly trace: number
}

/** The place at which a decoder begins that does not get the input before it. */
export interface CompactStart {
  /** The place in its file, and the header that applies there. */
  readonly place: Place
  readonly header: TraceHeader
  /** The level of the trace; undefined if it begins there and says so itself. */
  readonly level: CompactLevel | undefined
  /** The numbers of bytes and events of the input before the place, including earlier files. */
  readonly bytes: number
  readonly events: number
}

export function totalsBytes({ traces, blocks, events }: Totals): Uint8Array {
  return words([traces, blocks, events])
}

/** Reads totals from bytes. */
export function totalsAt(bytes: Uint8Array, at: number): Totals {
  return { traces: wordAt(bytes, at), blocks: wordAt(bytes, at + 8), events: wordAt(bytes, at + 16) }
}

/** The body of the index of these places, which begins at this offset of its file. */
export function indexBody(places: readonly Place[], offset: number): Uint8Array {
  const length = places.length * Layout.ENTRY_BYTES + Layout.INDEX_TAIL
  const body = new Uint8Array(length)
  places.forEach((place, i) => {
    body.set(words([place.offset, place.trace, place.traces, place.blocks, place.events]), i * Layout.ENTRY_BYTES)
  })
  body.set(words([offset]), length - Layout.INDEX_TAIL)
  new DataView(body.buffer).setUint32(length - 4, length + Layout.SECTION_MORE, true)
  return body
}

/** The places of an index's body, and the offset at which its section begins; undefined if they make no sense. */
export function parseIndex(body: Uint8Array): { readonly places: Place[]; readonly offset: number } | undefined {
  const entries = (body.length - Layout.INDEX_TAIL) / Layout.ENTRY_BYTES
  if (!Number.isInteger(entries) || entries < 1 || entries > Layout.MAX_ENTRIES) return undefined
  const offset = wordAt(body, body.length - Layout.INDEX_TAIL)
  const places: Place[] = []
  for (let at = 0; places.length < entries; at += Layout.ENTRY_BYTES) {
    const place = { offset: wordAt(body, at), trace: wordAt(body, at + 8), ...totalsAt(body, at + 16) }
    if (!Object.values(place).every(Number.isSafeInteger) || !canFollow(places.at(-1), place)) return undefined
    places.push(place)
  }
  return (places.at(-1) as Place).offset < offset ? { places, offset } : undefined
}

/** Whether a place can follow another one, or can be the first of a file. */
function canFollow(last: Place | undefined, place: Place): boolean {
  const { offset, trace, traces, blocks, events } = place
  if (last === undefined) return offset === Layout.HEAD_BYTES && trace === offset && traces + blocks + events === 0
  // Only the totals of a checkpoint count the trace that contains it.
  const least = last.traces + (last.trace === last.offset ? 1 : 0)
  const isOfTrace = trace === offset || (trace >= last.trace && trace < offset)
  return offset > last.offset && traces >= least && isOfTrace && isMore(last, place)
}

/** Whether totals can follow others: each block has events, up to the maximum. */
export function isMore(before: Totals, after: Totals): boolean {
  const blocks = after.blocks - before.blocks
  const events = after.events - before.events
  return after.traces >= before.traces && blocks >= 0 && events >= blocks && events <= blocks * Layout.BLOCK_EVENTS
}

/**
 * Whether an index lists the places that were found.
 * @param from the offset of the first place that was read; there may be places before it
 */
export function lists(index: readonly Place[], found: readonly Place[], from: number): boolean {
  const listed = index.filter(({ offset }) => offset >= from)
  // A full index lacks the last places.
  if (index.length === Layout.MAX_ENTRIES ? listed.length > found.length : listed.length !== found.length) return false
  return listed.every((place, i) => {
    const other = found[i]
    return (Object.keys(place) as (keyof Place)[]).every((key) => place[key] === other[key])
  })
}

/** The parts of a trace section. */
interface TraceParts {
  readonly flags: number
  readonly level: number
  /** The totals before a trace that needs nothing before it. */
  readonly totals: Totals | undefined
  readonly settings: Uint8Array
  readonly header: Uint8Array
}

/** The parts of a trace section's body; undefined if it is too short. */
export function traceParts(body: Uint8Array): TraceParts | undefined {
  if (body.length < Layout.TRACE_HEAD) return undefined
  const [flags, level, length] = body
  const resets = (flags & Layout.FLAG_RESET) !== 0
  const from = Layout.TRACE_HEAD + (resets ? Layout.TOTALS_BYTES : 0)
  if (body.length < from + length) return undefined
  const totals = resets ? totalsAt(body, Layout.TRACE_HEAD) : undefined
  return { flags, level, totals, settings: body.slice(from, from + length), header: body.subarray(from + length) }
}

function words(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(8 * values.length)
  const view = new DataView(bytes.buffer)
  values.forEach((value, i) => view.setBigUint64(8 * i, BigInt(value), true))
  return bytes
}

function wordAt(bytes: Uint8Array, at: number): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset + at).getBigUint64(0, true))
}
