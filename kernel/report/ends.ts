/** The blocks that are live when their trace or their process ends. */
import { TABLE_BYTES } from '../../lib/kernel/layouts/pairs'
import { MOST_GONE, SLICE_BITS, SLICE_BLOCKS, SLICE_BYTES, SLICE_SUM } from '../../lib/kernel/layouts/report'
import { blockAt, makeBlocks } from '../live/records'
import { addTo, count } from '../statistics/sums'
import { addressOf, EVENT, FLAGS, IS_LIVE, makePlaces, reachOf, RESIZED, SITE, SIZE, spaceOf } from './block'
import { endChain, ends, leaveMaximum } from './observe'
import { endPages, findSparse, sparseBytes, sparsePages } from './pages'
import { addPair, clearPairs, makePairs } from './pairs'
import { endRegions } from './regions'
import { siteKeeps } from './sites'
import { endSpaces } from './spaces'

/**
 * Since `clearGenerations`: by slice of the stream, the blocks that were last allocated or resized in it and never
 * freed, and their bytes.
 */
export const GENERATIONS: usize = memory.data(SLICE_BYTES << SLICE_BITS)
/** The same by site: the key is the site's row above `SLICE_BITS`, plus the slice. */
export const SITE_GENERATIONS: usize = memory.data(TABLE_BYTES)
const MOST: u32 = 262_144

/** The numbers of blocks that end with their process. */
export const GONE: usize = memory.data(MOST_GONE * 4)

/** Forgets the generations, after they have been read. */
export function clearGenerations(): void {
  memory.fill(GENERATIONS, 0, SLICE_BYTES << SLICE_BITS)
  clearPairs(SITE_GENERATIONS)
}

/**
 * Ends a process, and with it the first of the blocks in `GONE`.
 * @param shift as for `endTrace`
 * @returns whether there was memory
 */
export function leaveProcess(blocks: u32, shift: u32): bool {
  if (!makePairs(SITE_GENERATIONS, blocks, MOST) || !makePlaces(blocks)) return false
  for (let i: u32 = 0; i < blocks; i++) {
    const block = blockAt(load<u32>(GONE + ((<usize>i) << 2)))
    noteGeneration(block, shift)
    endChain(load<u32>(block, RESIZED))
    ends(block)
  }
  return true
}

/** Counts a block that is never freed. */
function noteGeneration(block: usize, shift: u32): void {
  const size = load<u64>(block, SIZE)
  const slice = (load<u64>(block, EVENT) - 1) >> (<u64>shift)
  const generation = GENERATIONS + <usize>slice * SLICE_BYTES
  count(generation + SLICE_BLOCKS)
  addTo(generation + SLICE_SUM, size)
  addPair(SITE_GENERATIONS, ((<u64>load<u32>(block, SITE)) << SLICE_BITS) | slice, size)
}

/**
 * Ends a trace.
 * @param numbers the highest number of a block
 * @param shift each slice has `2^shift` events
 * @returns whether there was memory
 */
export function endTrace(numbers: u32, shift: u32): bool {
  if (!makeBlocks(numbers) || !makePairs(SITE_GENERATIONS, min<u32>(numbers, MOST), MOST)) return false
  leaveMaximum()
  for (let number: u32 = 1; number <= numbers; number++) {
    const block = blockAt(number)
    if ((load<u32>(block, FLAGS) & IS_LIVE) == 0) continue
    const size = load<u64>(block, SIZE)
    const site = load<u32>(block, SITE)
    noteGeneration(block, shift)
    endChain(load<u32>(block, RESIZED))
    const space = spaceOf(block)
    if (space >= 0 && size > 0) {
      findSparse(<u32>space, addressOf(block), reachOf(addressOf(block), size))
      if (sparsePages > 0) siteKeeps(site, sparsePages, sparseBytes)
    }
    store<u32>(block, 0, FLAGS)
  }
  endPages()
  endRegions()
  endSpaces()
  return true
}
