import { readFileSync } from 'node:fs'
import type { TraceEvent } from '../../lib/event/batch.js'

const KINDS = ['', 'malloc', 'calloc', 'memalign', 'realloc', 'free']

/** The calls of a trace by kind and size, counted as plainly as can be. */
export function countCalls(events: Iterable<TraceEvent>): Map<string, number> {
  const counts = new Map<string, number>()
  const live = new Set<string>()
  const count = (kind: string, size: bigint) => counts.set(`${kind} ${size}`, (counts.get(`${kind} ${size}`) ?? 0) + 1)
  for (const { kind, api, address = 0n, oldAddress = 0n, index, size = 0n, alignment = 0n } of events) {
    const key = index === undefined ? String(address) : `index ${index}`
    if (kind === 'free' && key === '0') count('free', 0n)
    else if (kind === 'free' && live.delete(key)) count('free', 0n)
    else if (kind === 'alloc' && key !== '0') {
      // A block that is still there is freed before.
      if (live.has(key)) count('free', 0n)
      live.add(key)
      const name =
        api === 'calloc' || api === 'realloc' ? api : api === 'memalign' || alignment > 16n ? 'memalign' : 'malloc'
      count(name, size)
    } else if (kind === 'realloc') {
      const old = index === undefined ? String(oldAddress) : key
      if (key === '0' && size > 0n) continue
      const wasLive = live.delete(old)
      if (key === '0') {
        if (wasLive) count('free', 0n)
        continue
      }
      if (live.has(key)) count('free', 0n)
      live.add(key)
      count('realloc', size)
    }
  }
  return counts
}

/** What the preloaded library has counted, in the file that it wrote. */
export function countsIn(path: string): Map<string, number> {
  const rows = readFileSync(path)
  const counts = new Map<string, number>()
  for (let row = 0; row < rows.length; row += 24) {
    const kind = rows.readInt32LE(row + 16)
    if (kind === 0) continue
    counts.set(`${KINDS[kind]} ${rows.readBigUInt64LE(row)}`, Number(rows.readBigUInt64LE(row + 8)))
  }
  return counts
}

/** Counts in the order of their names. */
export const sorted = (counts: Map<string, number>) => [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
