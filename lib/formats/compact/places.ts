import { ENTRY_BYTES, INDEX_TAIL, MAX_ENTRIES } from './layout.js'

/** How many traces, blocks and events there are, or come before a place. */
export interface Totals {
  readonly traces: number
  readonly blocks: number
  readonly events: number
}

/** A place in a file at which a reader can begin: a trace of which nothing before is needed, or a checkpoint. */
export interface Place extends Totals {
  /** The offset of the section in its file. */
  readonly offset: number
  /** The offset of the trace section that holds there; the same for a trace. */
  readonly trace: number
}

/** Totals as bytes. */
export function totalsBytes({ traces, blocks, events }: Totals): Uint8Array {
  return words([traces, blocks, events])
}

/** Totals in bytes. */
export function totalsAt(bytes: Uint8Array, at: number): Totals {
  return { traces: wordAt(bytes, at), blocks: wordAt(bytes, at + 8), events: wordAt(bytes, at + 16) }
}

/** The body of the index of these places, which begins at this offset of its file. */
export function indexBody(places: readonly Place[], offset: number, sectionBytes: number): Uint8Array {
  const entries = places.slice(0, MAX_ENTRIES)
  const length = entries.length * ENTRY_BYTES + INDEX_TAIL
  const body = new Uint8Array(length)
  entries.forEach((place, i) => {
    body.set(words([place.offset, place.trace, place.traces, place.blocks, place.events]), i * ENTRY_BYTES)
  })
  body.set(words([offset]), length - INDEX_TAIL)
  new DataView(body.buffer).setUint32(length - 4, length + sectionBytes, true)
  return body
}

/** The places of an index's body, and the offset at which its section begins; undefined if they make no sense. */
export function parseIndex(body: Uint8Array): { readonly places: Place[]; readonly offset: number } | undefined {
  const entries = (body.length - INDEX_TAIL) / ENTRY_BYTES
  if (!Number.isInteger(entries) || entries < 1 || entries > MAX_ENTRIES) return undefined
  const offset = wordAt(body, body.length - INDEX_TAIL)
  const places: Place[] = []
  for (let at = 0; places.length < entries; at += ENTRY_BYTES) {
    const place = { offset: wordAt(body, at), trace: wordAt(body, at + 8), ...totalsAt(body, at + 16) }
    const last = places.at(-1)
    const isFine = Object.values(place).every(Number.isSafeInteger) && place.trace <= place.offset
    if (!isFine || place.offset >= offset) return undefined
    if (last !== undefined && (place.offset <= last.offset || place.events < last.events)) return undefined
    places.push(place)
  }
  return { places, offset }
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
