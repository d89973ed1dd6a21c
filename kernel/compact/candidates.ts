/** The symbols that are proposed for the next event. */

import { classAt } from './classes'

export const NEW_DESCRIPTOR: u32 = 0

/** Candidates: the symbols, the sources that proposed each, and the confidence of the first of these. */
export const CANDIDATES: usize = memory.data(64)
export const SOURCES: usize = memory.data(64)
export const TRUST: usize = memory.data(64)
export let candidates: u32 = 0

export function clearCandidates(): void {
  candidates = 0
}

/** Adds a candidate, or a source of it. A free's only counts if its class has live blocks. */
export function propose(symbol: u32, source: u32, trust: u32): void {
  if ((symbol & 1) != 0 && classAt(symbol >> 1).live == 0) return
  for (let i: u32 = 0; i < candidates; i++) {
    if (load<u32>(CANDIDATES + ((<usize>i) << 2)) != symbol) continue
    store<u32>(SOURCES + ((<usize>i) << 2), load<u32>(SOURCES + ((<usize>i) << 2)) | (1 << source))
    return
  }
  const at = (<usize>candidates) << 2
  candidates++
  store<u32>(CANDIDATES + at, symbol)
  store<u32>(SOURCES + at, 1 << source)
  store<u32>(TRUST + at, trust)
}
