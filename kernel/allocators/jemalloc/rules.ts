/**
 * Size classes of jemalloc, and the differences between versions 3, 4 and 5 and word sizes. lib/allocators/README.md
 * names the sources. `setRules` sets these variables.
 */

export const PAGE_LOG: u64 = 12
export const PAGE: u64 = 4096
/** The number of classes with a cache is below this. */
export const MOST_CLASSES: u32 = 64
/** The maximum number of regions of a run. */
const MOST_REGIONS: u32 = 2048

/** A class: its size, the pages of a run, its number of regions, the offset of the first, and the slots of a cache. */
@unmanaged
class SizeClass {
  size: u32
  pages: u32
  regions: u32
  first: u32
  slots: u32
}

const CLASSES: usize = memory.data(1280)

/** The number of size classes whose blocks are regions of runs; and the number of those that caches hold. */
export let smallClasses: u32 = 0
export let cachedClasses: u32 = 0
/** The largest size of each group. */
let mostSmall: u64 = 0
let mostCached: u64 = 0
/** The number of a thread's calls, or bytes, after which a class of its cache is checked. */
export let isByBytes: bool = false
export let sweep: u32 = 0
/** Whether runs begin with a header, and large blocks come in whole pages (3). */
export let hasHeaders: bool = false
/** The pages of a chunk, and the number of header pages at its start (3, 4). */
export let chunkPages: u32 = 1024
export let headPages: u32 = 3
let quantumLog: u32 = 4
/** The additional pages of a large block, so that it can begin anywhere in its first page (5). */
export let largePad: u32 = 0
/** Whether the pages of new runs follow from the calls, because the trace begins with the program (5). */
export let knowsPages: bool = false
/** The maximum number of arenas that threads are distributed to. */
export let mostArenas: u32 = 2

/** Whether threads have caches. */
export let hasCaches: bool = true
export function setCaches(yes: bool): void {
  hasCaches = yes
}

export function sizeClass(c: u32): SizeClass {
  return changetype<SizeClass>(CLASSES + <usize>c * offsetof<SizeClass>())
}

/** Whether a class's blocks are regions of runs. */
export function isSmall(c: u32): bool {
  return c < smallClasses
}

/** The class of a size; `cachedClasses` if no cache holds it. */
// @ts-ignore: decorator
@inline
export function classOf(size: u64): u32 {
  if (size > mostCached) return cachedClasses
  if (hasHeaders && size > mostSmall) return smallClasses + <u32>((size - 1) >> PAGE_LOG)
  const q = quantumLog
  const bytes = max<u32>(<u32>size, 1)
  const tiny: u32 = q == 4 ? 1 : 0
  if (bytes <= (<u32>4) << q) return tiny != 0 && bytes <= 8 ? 0 : ((bytes + ((<u32>1) << q) - 1) >> q) - 1 + tiny
  const log: u32 = 31 - clz(bytes - 1)
  return ((log - q - 2) << 2) + ((bytes - 1) >> (log - 2)) + tiny
}

/** The pages of a block that is not a region, without the pad. */
export function pagesFor(size: u64): u64 {
  if (!hasHeaders) {
    const log = 63 - clz<u64>(max<u64>(size, PAGE) - 1)
    const step = max<u64>(((<u64>1) << log) >> 2, PAGE)
    size = (size + step - 1) & ~(step - 1)
  }
  return (size + PAGE - 1) >> PAGE_LOG
}

/** Sets the rules. @returns false if there are none for these parameters */
export function setRules(version: i32, bits: i32, cores: u32): bool {
  if (version < 3 || version > 5 || (bits != 32 && bits != 64) || (version == 5 && bits != 64)) return false
  hasHeaders = version == 3
  quantumLog = bits == 64 ? 4 : 3
  knowsPages = version == 5
  isByBytes = version == 5
  largePad = version == 5 ? 1 : 0
  chunkPages = version == 3 ? 1024 : 512
  headPages = version == 3 ? (bits == 64 ? 6 : 3) : bits == 64 ? 13 : 12
  mostArenas = version == 5 ? min<u32>(cores == 0 ? 64 : cores << 2, 64) : 2
  mostSmall = hasHeaders ? 3584 : 14_336
  mostCached = version == 5 ? 32_768 : 65_536
  let c: u32 = 0
  let pages: u32 = 1
  for (let size: u64 = 8; size <= mostCached; c++) {
    const isSmall = size <= mostSmall
    if (isSmall) pages = setRun(c, <u32>size, pages, bits == 64 ? 16 : 12, bits >> 3)
    else setRow(c, <u32>size, <u32>(size >> PAGE_LOG), 1, 0)
    const regions = sizeClass(c).regions << 1
    const most: u32 = version == 5 ? 200 : 8
    sizeClass(c).slots = isSmall ? (regions <= 20 ? 20 : min(regions, most)) : version == 5 ? 20 : 16
    if (isSmall) smallClasses = c + 1
    size = after(size)
  }
  cachedClasses = c
  sweep = version == 5 ? 65_536 : (8191 + smallClasses) / smallClasses
  return true
}

/** The size of the next class. */
function after(size: u64): u64 {
  if (hasHeaders && size >= mostSmall) return (size & ~(PAGE - 1)) + PAGE
  if (size < (<u64>4) << quantumLog) return size == 8 ? 16 : size + ((<u64>1) << quantumLog)
  return size + (((<u64>1) << (63 - clz(size))) >> 2)
}

function setRow(c: u32, size: u32, pages: u32, regions: u32, first: u32): void {
  const row = sizeClass(c)
  row.size = size
  row.pages = pages
  row.regions = regions
  row.first = first
}

/** Finds the length of a class's runs. @returns their pages */
function setRun(c: u32, size: u32, least: u32, head: u32, word: u32): u32 {
  if (!hasHeaders) {
    let bytes: u32 = <u32>PAGE
    while (bytes % size != 0) bytes += <u32>PAGE
    setRow(c, size, bytes >> (<u32>PAGE_LOG), bytes / size, 0)
    return 1
  }
  // Runs are a page shorter than the first ones that lose less than 1.5 %, unless the regions are small.
  let pages = least
  while (true) {
    const regions = regionsIn(pages << (<u32>PAGE_LOG), size, head, word)
    setRow(c, size, pages, regions, (pages << (<u32>PAGE_LOG)) - regions * size)
    const longer = (pages + 1) << (<u32>PAGE_LOG)
    const more = regionsIn(longer, size, head, word)
    if (61 * (size << 3) <= 0x1800 || (longer - more * size) << 12 <= 61 * longer || more == MOST_REGIONS) return pages
    pages++
  }
}

/** The number of regions that fit after the header of a run. */
function regionsIn(bytes: u32, size: u32, head: u32, word: u32): u32 {
  let regions = min((bytes - head) / size, MOST_REGIONS)
  while (head + bitmapBytes(regions, word) > bytes - regions * size) regions--
  return regions
}

/** The bytes of a bitmap and of the levels above it. Each bit of a level stands for a word of the level below. */
function bitmapBytes(count: u32, word: u32): u32 {
  let words: u32 = 0
  let bits = count
  do {
    bits = (bits + (word << 3) - 1) / (word << 3)
    words += bits
  } while (bits > 1)
  return words * word
}
