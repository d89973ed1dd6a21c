/**
 * Guesses addresses when no allocator is simulated: most allocators return the block of the requested size that the
 * thread freed last, or the block after the one that they returned last.
 */

import { entryAt, freshen, mixed, pairBit } from './coder'
import { folded, pairNumber, unfolded } from './numbers'

/** The data of a thread for a size. */
@unmanaged
class Cache {
  /** The last address that it received, and the distance from the one before. */
  last: u64
  step: u64
  /** The number of its freed addresses, which are stored after it, the newest last. */
  count: u32
  /** The guesses that were recently right, three bits each. */
  winners: u32
}

const BYTES: usize = 88
const FREED: usize = 24
const MOST: u32 = 8
const CACHES: usize = memory.data(360_448)
const FIRST: usize = memory.data(65_536)
const SECOND: usize = memory.data(65_536)
const GUESSES: u32 = 4

/** The end of the newest block. */
let fresh: u64 = 0

export function resetCaches(): void {
  fresh = 0
  memory.fill(CACHES, 0, 360_448)
  freshen(FIRST, 16_384)
  freshen(SECOND, 16_384)
}

/** The class of a size: steps of 16 bytes up to 1 KiB, then of an eighth. */
function sizeClass(size: u64): u32 {
  if (size <= 1024) return <u32>((size + 15) >> 4)
  const log = 63 - <u32>clz<u64>(size)
  return 64 + (log << 3) + ((<u32>(size >> (log - 3))) & 7)
}

function cacheAt(thread: u32, size: u64): Cache {
  return changetype<Cache>(CACHES + <usize>(mixed(thread, sizeClass(size)) >> 20) * BYTES)
}

function freedAt(cache: Cache, i: u32): u64 {
  return load<u64>(changetype<usize>(cache) + ((<usize>i) << 3), FREED)
}

function guess(cache: Cache, which: u32): u64 {
  switch (which) {
    case 0:
      return cache.count > 0 ? freedAt(cache, cache.count - 1) : 0
    case 1:
      return cache.last == 0 ? 0 : cache.last + cache.step
    case 2:
      return fresh
    default:
      return cache.count > 1 ? freedAt(cache, cache.count - 2) : 0
  }
}

/** Codes the address of a new block. */
export function codeByCaches(thread: u32, size: u64, address: u64): u64 {
  const cache = cacheAt(thread, size)
  const last = cache.winners & 7
  let found = false
  let tried: u64 = 0
  for (let i: u32 = 0; i < GUESSES && !found; i++) {
    // The last right guess comes first.
    const which = i == 0 ? min<u32>(last, 3) : i <= min<u32>(last, 3) ? i - 1 : i
    const one = guess(cache, which)
    if (one == 0 || one == tried) continue
    tried = one
    const first = entryAt(FIRST, (which << 3) | i, cache.winners & 0x1ff)
    const second = entryAt(SECOND, sizeClass(size), (which << 4) | min<u32>(cache.count, 15))
    if (pairBit(address == one ? 1 : 0, first, second, 34 + which) == 0) continue
    found = true
    address = one
    cache.winners = (cache.winners << 3) | which
  }
  if (!found) {
    cache.winners = (cache.winners << 3) | 4
    address = codeDifference(address, cache.last != 0 ? cache.last : fresh, 2)
  }
  use(cache, size, address)
  return address
}

/** Codes whether a realloc leaves a block in place. */
export function codeSame(oldSize: u64, size: u64, isSame: bool): bool {
  const context = mixed(sizeClass(oldSize), sizeClass(size))
  const first = entryAt(FIRST, context, 7)
  const second = entryAt(SECOND, size > oldSize ? 1 : 0, 8)
  return pairBit(isSame ? 1 : 0, first, second, 39) != 0
}

/** Codes an address by its distance from another one. */
export function codeDifference(address: u64, from: u64, sort: u32): u64 {
  const difference = address - from
  const isEven = pairBit(
    (difference & 15) == 0 ? 1 : 0,
    FIRST + ((<usize>sort) << 2),
    SECOND + ((<usize>((<u32>from) & 15)) << 2),
    38,
  )
  const scale: u64 = isEven != 0 ? 4 : 0
  const coded = pairNumber(folded(<u64>((<i64>difference) >> scale)), 100 + sort, 200 + isEven, 40)
  return from + (unfolded(coded) << scale)
}

function use(cache: Cache, size: u64, address: u64): void {
  let i: u32 = 0
  while (i < cache.count && freedAt(cache, i) != address) i++
  const end = address + max<u64>(32, (size + 23) & ~15)
  if (i < cache.count) {
    for (cache.count--; i < cache.count; i++)
      store<u64>(changetype<usize>(cache) + ((<usize>i) << 3), freedAt(cache, i + 1), FREED)
  } else fresh = end
  cache.step = address - cache.last
  cache.last = address
}

/** Notes that a block is freed. */
export function noteFree(thread: u32, size: u64, address: u64): void {
  const cache = cacheAt(thread, size)
  if (cache.count == MOST) {
    memory.copy(changetype<usize>(cache) + FREED, changetype<usize>(cache) + FREED + 8, 8 * (MOST - 1))
    cache.count--
  }
  store<u64>(changetype<usize>(cache) + ((<usize>cache.count) << 3), address, FREED)
  cache.count++
}
