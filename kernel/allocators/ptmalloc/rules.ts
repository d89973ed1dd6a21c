/**
 * The differences between word sizes and versions of glibc, 2.23 to 2.43. lib/allocators/README.md names the sources.
 * `setRules` sets these variables.
 */

export const PAGE: u64 = 4096
/** The excess by which a heap grows, and the size that remains when it shrinks. */
export const TOP_PAD: u64 = 131_072
/** The number of lists of free chunks of a thread's cache that can be in use by default, and of fast bins. */
export const CACHE_BINS: u32 = 64
export const FAST_BINS: u32 = 12
/** The number of bins of an arena. */
export const BINS: u32 = 128

let is64: bool = true
/** The size of a word, and the alignment of chunks. */
export let word: u64 = 8
export let alignment: u64 = 16
/** The distance from a chunk to the block in it. */
export let header: u64 = 16
/** The smallest chunk. */
export let least: u64 = 32
/** The largest chunk for fast bins, 0 if there are none; and the smallest for large bins. */
export let mostFast: u64 = 128
export let leastLarge: u64 = 1024
/** The maximum size of one heap of a thread's arena. */
export let heapRoom: u64 = 0
/** The largest chunk whose mapping raises the threshold for mappings. */
export let mostThreshold: u64 = 0
/** The offset of the first chunk in a heap of a thread's arena: in later heaps, and in the first. */
export let heapHead: u64 = 0
export let arenaHead: u64 = 0
/** The size of a thread's cache, 0 if threads have none, and the number of chunks of one size in it. */
export let cacheSize: u64 = 0
export let cacheDepth: u32 = 7
/** The maximum number of arenas per core. The limit applies once there are more arenas than one core may have. */
export let arenasPerCore: u32 = 8
/** calloc takes chunks from the cache (2.41). */
export let callocUsesCache: bool = false
/** A freed small chunk goes to the bin of its size instead of the unsorted one (2.41). */
export let sortsSmall: bool = false
/**
 * The maximum excess of a block over the request for realloc to return it unchanged; with `keepsToTrim`, the trim
 * threshold.
 */
export let keepsBelow: u64 = 0
export let keepsToTrim: bool = false
/** memalign takes chunks from the cache, and gives the rest back without it (2.38). */
export let memalignUsesCache: bool = false
/** The part that realloc cuts off, and the rest of a full heap, go to the cache (until 2.41). */
export let cachesRests: bool = true
/**
 * The calls that create a thread's cache: until 2.41 every call, in 2.42 malloc, from 2.43 on the first free of a chunk
 * that fits the cache.
 */
export let mallocMakesCache: bool = true
export let freeMakesCache: bool = true
export let reallocMakesCache: bool = true
/** A thread without a cache gets one when a small bin has a chunk of the requested size (2.43). */
export let stashMakesCache: bool = false
/** A mapped chunk has a last word like others (2.43). */
export let mapsNormally: bool = false

/**
 * Sets the rules.
 * @param version the minor version of glibc, 23 to 43
 * @returns false if there is no such version
 */
export function setRules(version: i32, bits: i32): bool {
  if (version < 23 || version > 43 || (bits !== 32 && bits !== 64)) return false
  is64 = bits == 64
  word = is64 ? 8 : 4
  // 32-bit programs align to 8 bytes until 2.25.
  const isNarrow = !is64 && version < 26
  alignment = isNarrow ? 8 : 16
  header = 2 * word
  least = is64 ? 32 : 16
  mostFast = version >= 43 ? 0 : is64 ? 128 : 64
  leastLarge = is64 ? 1024 : isNarrow ? 512 : 1008
  heapRoom = is64 ? 64 << 20 : 1 << 20
  mostThreshold = is64 ? 32 << 20 : 512 << 10
  heapHead = is64 ? (version < 35 ? 0x20 : 0x30) : isNarrow ? 0x10 : 0x18
  setArenaHead(version, isNarrow)
  cacheSize = version < 26 ? 0 : version < 30 ? (is64 ? 0x240 : 0x140) : version < 42 ? (is64 ? 0x280 : 0x180) : 0
  if (version >= 42) cacheSize = is64 ? 0x2f8 : 0x1c8
  cacheDepth = version < 43 ? 7 : 16
  arenasPerCore = is64 ? 8 : 2
  callocUsesCache = sortsSmall = version >= 41
  keepsToTrim = version == 37
  keepsBelow = version < 37 ? 0 : 2 * word
  memalignUsesCache = version >= 38
  cachesRests = reallocMakesCache = version < 42
  mallocMakesCache = version < 43
  freeMakesCache = version != 42
  stashMakesCache = version >= 43
  mapsNormally = version >= 43
  return true
}

/** Threads' caches stay empty, as with `glibc.malloc.tcache_count=0`. Call this after `setRules`. */
export function emptyCaches(): void {
  cacheDepth = 0
}

/**
 * Changes the length of the data at the start of a heap: with words of 64 bits, versions 2.30 to 2.34 and 2.35 to 2.41
 * may differ only in that. Call this before anything depends on it.
 * @returns false for other versions
 */
export function changeHeapHead(): bool {
  const isOld = heapHead == 0x20 && arenaHead == 0x8c0 && cacheSize == 0x280
  if (!isOld && (heapHead != 0x30 || arenaHead != 0x8d0 || cacheSize != 0x280)) return false
  heapHead = isOld ? 0x30 : 0x20
  arenaHead = isOld ? 0x8d0 : 0x8c0
  return true
}

/** The offset of the first chunk in an arena's first heap, after the data of the heap and the arena. */
function setArenaHead(version: i32, isNarrow: bool): void {
  if (!is64) arenaHead = isNarrow ? 0x468 : version < 43 ? 0x478 : 0x448
  else if (version < 26) arenaHead = 0x8b0
  else if (version < 35) arenaHead = 0x8c0
  else arenaHead = version < 43 ? 0x8d0 : 0x870
}

/** The size of the chunk for a request. */
// @ts-ignore: decorator
@inline
export function chunkSize(request: u64): u64 {
  return max((request + word + alignment - 1) & ~(alignment - 1), least)
}

/** The list of a cache for chunks of a size. */
// @ts-ignore: decorator
@inline
export function cacheBin(size: u64): u64 {
  return (size - least + 15) >> 4
}

/** The fast bin of a size. */
// @ts-ignore: decorator
@inline
export function fastBin(size: u64): u32 {
  return <u32>(size >> (is64 ? 4 : 3)) - 2
}

/** The bin of a size. */
// @ts-ignore: decorator
@inline
export function binOf(size: u64): u32 {
  if (size >= leastLarge) return largeBin(size)
  return is64 ? <u32>(size >> 4) : alignment == 8 ? <u32>(size >> 3) : <u32>(size >> 4) + 1
}

function largeBin(size: u64): u32 {
  const s = size >> 6
  if (is64) {
    if (s <= 48) return 48 + <u32>s
  } else if (alignment == 8) {
    if (s <= 38) return 56 + <u32>s
  } else if (s <= 45) return 49 + <u32>s
  if (size >> 9 <= 20) return 91 + <u32>(size >> 9)
  if (size >> 12 <= 10) return 110 + <u32>(size >> 12)
  if (size >> 15 <= 4) return 119 + <u32>(size >> 15)
  return size >> 18 <= 2 ? 124 + <u32>(size >> 18) : 126
}

/** Rounds up to whole pages. */
// @ts-ignore: decorator
@inline
export function pages(bytes: u64): u64 {
  return (bytes + PAGE - 1) & ~(PAGE - 1)
}
