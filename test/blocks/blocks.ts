import type { TraceEvent } from '../../lib/event/batch.js'
import { APIS } from '../../lib/event/fields.js'
import { BlockEffect } from '../../lib/blocks/block-effect.js'

/** What an event did, in words, and which blocks it was about by the number of the event that they began with. */
export interface Deed {
  did: string[]
  ended?: number
  overwritten?: number
}

const NAMES = Object.keys(BlockEffect)

/** What the live set does, written down as directly as can be, over plain events and a Map. */
export function blocksByMap(events: readonly TraceEvent[]): { deeds: Deed[]; live: number[] } {
  const live = new Map<string, number>()
  const freed = new Set<string>()
  const processes: bigint[] = []
  const deeds = events.map((event, e): Deed => {
    const { kind, api, process, index, address = 0n, oldAddress = 0n, size = 0n, outcome } = event
    if (!['alloc', 'existing', 'free', 'realloc'].includes(kind)) return { did: [] }
    if (index === undefined && process !== undefined && !processes.includes(process)) processes.push(process)
    const space = process === undefined ? 0 : processes.indexOf(process)
    const isPages = api === 'pages'
    const key = (a: bigint, pages = isPages) => `${space}${pages ? ' pages' : ''} ${a}`
    const isKernel = api !== undefined && APIS.indexOf(api) >= APIS.indexOf('kmalloc')

    const end = (...keys: string[]): Deed => {
      const found = keys.find((one) => live.has(one))
      if (found === undefined)
        return { did: freed.has(keys[0] as string) && index !== 0n ? ['unknown', 'again'] : ['unknown'] }
      const ended = live.get(found) as number
      live.delete(found)
      freed.add(found)
      return { did: ['ended'], ended }
    }
    const endAt = (a: bigint) => end(key(a), ...(isKernel ? [key(a, !isPages)] : []))
    const begin = (at: string, before?: Deed): Deed => {
      const overwritten = live.get(at)
      live.set(at, before?.ended ?? e + 1)
      return {
        did: NAMES.filter(
          (name) =>
            name === 'began' || before?.did.includes(name) === true || (name === 'reused' && overwritten !== undefined),
        ),
        ...(before?.ended !== undefined && { ended: before.ended }),
        ...(overwritten !== undefined && { overwritten }),
      }
    }

    const nothingLeft = outcome === 'freed' || (outcome !== 'none' && address === 0n && size === 0n)
    if (index !== undefined) {
      const at = `index ${index}`
      if (index === 0n && kind !== 'realloc') return { did: [kind === 'free' ? 'nothing' : 'failed'] }
      if (kind === 'free') return end(at)
      if (kind !== 'realloc') return begin(at)
      return nothingLeft ? end(at) : begin(at, end(at))
    }
    if (kind !== 'realloc') {
      if (address === 0n) return { did: [kind === 'free' ? 'nothing' : 'failed'] }
      return kind === 'free' ? endAt(address) : begin(key(address))
    }
    let [from, to] = [outcome === 'allocated' ? 0n : oldAddress, address]
    if (outcome === 'none') {
      if (event.oldAddress === undefined) from = to
      else if (event.address === undefined) to = from
    }
    if (to === 0n || outcome === 'freed') {
      if (!nothingLeft) return { did: ['failed'] }
      return from === 0n ? { did: ['nothing'] } : endAt(from)
    }
    return from === 0n ? begin(key(to)) : begin(key(to), endAt(from))
  })
  return { deeds, live: [...live.values()].toSorted((a, b) => a - b) }
}
