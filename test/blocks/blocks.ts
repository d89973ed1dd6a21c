import type { TraceEvent } from '../../lib/event/batch.js'
import { APIS } from '../../lib/event/fields.js'
import { BlockEffect } from '../../lib/blocks/block-effect.js'

/** What an event did, in words, and which blocks it was about by the number of the event that they began with. */
export interface Deed {
  did: string[]
  ended?: number
  overwritten?: number
  /** The block that a failed realloc left as it was. */
  left?: number
  /** The blocks that end with the process. */
  gone?: number[]
}

const NAMES = Object.keys(BlockEffect)

/** What an event is to do, as directly as the event says it. */
export interface Intent {
  /** The keys of the block to be ended, the first of which is the one that the event gives; empty for none. */
  ends: string[]
  /** The key of the block that begins. */
  begins?: string
  /** Why it does neither. */
  none?: 'nothing' | 'failed'
  /** The key of the block that a failed realloc leaves as it was. */
  leaves?: string
  isIndexed: boolean
}

/** Which blocks each event is about, by keys that say it all; undefined for events that are about none. */
export function intentsOf(events: readonly TraceEvent[]): (Intent | undefined)[] {
  return events.map(({ kind, api, process = 'none', index, ...event }) => {
    const { address = 0n, oldAddress = 0n, size = 0n, outcome } = event
    if (!['alloc', 'existing', 'free', 'realloc'].includes(kind)) return undefined
    const isIndexed = index !== undefined
    const isKernel = api !== undefined && APIS.indexOf(api) >= APIS.indexOf('kmalloc')
    const key = (a: bigint, isPages = api === 'pages') =>
      isIndexed ? `index ${index}` : `process ${process}${isPages ? ' pages' : ''} ${a}`
    const keys = (a: bigint) => (isKernel ? [key(a), key(a, api !== 'pages')] : [key(a)])
    const neither = (none: 'nothing' | 'failed', leaves?: string): Intent => ({
      ends: [],
      none,
      isIndexed,
      ...(leaves !== undefined && { leaves }),
    })
    if (kind !== 'realloc') {
      if ((index ?? address) === 0n) return neither(kind === 'free' ? 'nothing' : 'failed')
      return kind === 'free' ? { ends: keys(address), isIndexed } : { ends: [], begins: key(address), isIndexed }
    }
    const isFreed = outcome === 'freed' || (outcome !== 'none' && address === 0n && size === 0n)
    if (isIndexed && outcome === undefined && event.oldAddress !== undefined && address === 0n && size !== 0n)
      return neither('failed', key(0n))
    if (isIndexed) return { ends: keys(0n), isIndexed, ...(!isFreed && { begins: key(0n) }) }
    let [from, to] = [outcome === 'allocated' ? 0n : oldAddress, address]
    if (outcome === 'none') {
      if (event.oldAddress === undefined) from = to
      else if (event.address === undefined) to = from
    }
    const ends = from === 0n ? [] : keys(from)
    if (to !== 0n && outcome !== 'freed') return { ends, begins: key(to), isIndexed }
    if (!isFreed) return neither('failed', from === 0n ? undefined : key(from))
    return from === 0n ? neither('nothing') : { ends, isIndexed }
  })
}

/** What the live set does, written down as directly as can be, over plain events and a Map. */
export function blocksByMap(events: readonly TraceEvent[]): { deeds: Deed[]; live: number[] } {
  const live = new Map<string, number>()
  const freed = new Set<string>()
  const owners = new Map<string, bigint | undefined>()
  const deeds = intentsOf(events).map((intent, e): Deed => {
    const { kind, process } = events[e]
    if (kind === 'process-end') {
      const gone = [...live].filter(([key]) => owners.get(key) === process)
      for (const [key] of gone) live.delete(key)
      return { did: [], gone: gone.map(([, block]) => block) }
    }
    if (intent === undefined) return { did: [] }
    const { ends, begins, none, leaves } = intent
    if (none !== undefined) {
      const left = leaves === undefined ? undefined : live.get(leaves)
      return { did: [none], ...(left !== undefined && { left }) }
    }
    const found = ends.find((one) => live.has(one))
    const ended = found === undefined ? undefined : live.get(found)
    const did: string[] = []
    if (found !== undefined) {
      did.push('ended')
      live.delete(found)
      freed.add(found)
    } else if (ends.length > 0) {
      did.push('unknown')
      if (freed.has(ends[0])) did.push('again')
    }
    if (begins === undefined) return { did, ...(ended !== undefined && { ended }) }
    const overwritten = live.get(begins)
    live.set(begins, ended ?? e + 1)
    owners.set(begins, process)
    did.push('began', ...(overwritten !== undefined ? ['reused'] : []))
    return {
      did: NAMES.filter((name) => did.includes(name)),
      ...(ended !== undefined && { ended }),
      ...(overwritten !== undefined && { overwritten }),
    }
  })
  return { deeds, live: [...live.values()].toSorted((a, b) => a - b) }
}
