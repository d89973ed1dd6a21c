/**
 * Chunks of jemalloc 3 and 4, where all pages are known from the start: they follow from the calls. A chunk begins with
 * pages of its own. Pages that were not used since their chunk was taken are clean, and do not merge with dirty ones.
 * Of the free extents, the smallest one that is large enough is taken; of equal ones, the lowest. A block that is too
 * large for one chunk consists of whole chunks.
 */
import { addExtent, DIRTY, extent, RETAINED } from './extents'
import { dropStart, putStart } from './page-map'
import { addFree, holdPages, leadOf, merge, OVERSIZE_ARENA, setOf, spareOf, take } from './free-pages'
import { areFixed, takeBelow } from './regions'
import { chunkPages, hasHeaders, headPages, knowsPages, PAGE, PAGE_LOG } from './rules'
import { firstFrom, isBefore } from './sets'

/** Whether an extent consists of whole chunks. */
export function isHuge(n: u32): bool {
  return areFixed && !knowsPages && extent(n).arena == OVERSIZE_ARENA
}

/** Whether a free extent covers a whole chunk of an arena. */
export function isChunk(n: u32): bool {
  return areFixed && !knowsPages && extent(n).pages == chunkPages - headPages && extent(n).arena != OVERSIZE_ARENA
}

function wholeChunks(pages: u32): u32 {
  return (pages + chunkPages - 1) & ~(chunkPages - 1)
}

/**
 * The size of a block of whole chunks: in version 4 the size of its class, at least a chunk; in version 3 all of its
 * chunks.
 */
export function setHugeSize(n: u32, pages: u32): void {
  extent(n).block = hasHeaders ? wholeChunks(pages) : max(pages, chunkPages)
}

/** The pages of a block of whole chunks after a realloc; 0 if it cannot stay where it is. */
export function hugePages(has: u32, pages: u32): u32 {
  if (pages <= chunkPages - headPages) return 0
  const whole = wholeChunks(pages)
  return hasHeaders && whole != has ? 0 : whole
}

/** Takes pages with an alignment for a use. @returns the extent, 0 if memory or addresses are exhausted */
export function takeFixed(arena: u32, pages: u32, alignment: u64, state: u8): u32 {
  const slack: u32 = alignment > PAGE ? <u32>(alignment >> PAGE_LOG) - 1 : 0
  if (pages + slack > chunkPages - headPages) {
    const n = takeHuge(pages, alignment, state)
    if (n != 0) setHugeSize(n, pages)
    return n
  }
  let free = smallest(arena, pages + slack)
  if (free == 0 && addChunk(arena)) free = smallest(arena, pages + slack)
  return free == 0 ? 0 : take(free, leadOf(free, slack), pages, state)
}

function smallest(arena: u32, pages: u32): u32 {
  const dirty = firstFrom(setOf(arena, DIRTY, 0), pages)
  const clean = firstFrom(setOf(arena, RETAINED, 0), pages)
  if (dirty == 0 || clean == 0) return max(dirty, clean)
  return isBefore(dirty, clean) ? dirty : clean
}

/** Takes whole chunks: free ones, or new ones below all others. */
function takeHuge(pages: u32, alignment: u64, state: u8): u32 {
  const whole = wholeChunks(pages)
  const aligned = max(alignment, (<u64>chunkPages) << PAGE_LOG)
  const slack = <u32>(aligned >> PAGE_LOG) - 1
  const free = firstFrom(setOf(OVERSIZE_ARENA, RETAINED, 0), whole + slack + 1 - chunkPages)
  if (free != 0) return take(free, leadOf(free, slack), whole, state)
  const base = takeBelow((<u64>whole) << PAGE_LOG, aligned)
  const n = base == 0 ? 0 : addExtent(state, OVERSIZE_ARENA, base, whole, 0)
  if (n == 0) return 0
  putStart(base >> PAGE_LOG, n)
  holdPages(whole)
  return n
}

/** Adds a chunk to the free extents of an arena: its spare chunk, or a clean one. */
function addChunk(arena: u32): bool {
  const spare = load<u32>(spareOf(arena))
  if (spare != 0) {
    store<u32>(spareOf(arena), 0)
    addFree(spare, DIRTY)
    return true
  }
  const n = takeHuge(chunkPages, 1, RETAINED)
  if (n == 0) return false
  dropStart(extent(n).base >> PAGE_LOG, n)
  extent(n).base += (<u64>headPages) << PAGE_LOG
  extent(n).pages = chunkPages - headPages
  extent(n).arena = <u16>arena
  holdPages(0 - <u64>(chunkPages - headPages))
  addFree(n, RETAINED)
  return true
}

/** Keeps a free chunk as an arena's spare one. Other arenas may take the previous spare chunk. */
export function keepChunk(n: u32): void {
  const place = spareOf(extent(n).arena)
  const other = load<u32>(place)
  store<u32>(place, n)
  extent(n).state = DIRTY
  if (other == 0) return
  extent(other).base -= (<u64>headPages) << PAGE_LOG
  extent(other).pages = chunkPages
  extent(other).arena = <u16>OVERSIZE_ARENA
  holdPages(0 - <u64>chunkPages)
  merge(other, RETAINED)
  addFree(other, RETAINED)
}
