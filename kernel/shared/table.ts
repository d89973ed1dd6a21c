/**
 * A hash table from 64-bit keys to two 64-bit values, for the live blocks of a trace. There is one per instance, in
 * memory that grows.
 *
 * A bucket has seven places. Their tags, 16 bits of the hash each, are compared at once, so the position of a key costs
 * no branch. A key that finds its bucket full goes to the next bucket with room. Each bucket counts the keys that
 * passed it, and a search ends at a bucket that none has passed. So removing a key moves nothing. No search goes
 * further than any key had to, because counts alone would not stop a search if keys were chosen to pass every bucket.
 *
 * Keys are mostly neighbours: consecutive indices, addresses of one heap. The initial hash multiplies by the golden
 * ratio, which spreads such sequences more evenly than a random function. If keys still have to travel far, they were
 * probably chosen to collide, and the table is rehashed with a random seed.
 *
 * With hash-table.ts in its place, hf-convert from MTRC to MTRC took 30 % longer, and 54 % more memory, for a trace of
 * 4 million events with many live blocks.
 */
import { mix, secretFrom } from './hash'

/** The offsets of the values in an entry. */
export const FIRST: usize = 8
export const SECOND: usize = 16

const FEWEST: u32 = 16
/** The bytes of tags in a bucket: of its seven places, and the count of keys that passed in place of an eighth. */
const TAGS: usize = 16
const PASSED: usize = 14
/** Bits of zero tags among the eight: free places, and the bucket not passed by any key. */
const FREE_PLACES: i32 = 0x7f
const NONE_PASSED: i32 = 0x80
/** The bytes of entries in a bucket: a key and two values for each of eight tags, though only seven are used. */
const ENTRIES: usize = 192
/** The distance that a key may travel, in bytes of tags, before the table is rehashed. */
const LONG: usize = TAGS * 32
/** How far loads may read beyond their data. */
const SLACK: u64 = 64

/** The tag of a used place has this bit, ... */
const TAKEN: u32 = 0x8000
/** ... and this one if the key belongs to an earlier bucket. */
const DISPLACED: u32 = 1

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15

/** The start of the table: the tags. */
let table: usize = 0
/** The start of the entries: the entry of the tag at n bytes into the table is 12 n bytes from here. */
let entries: usize = 0
/** The offset of the last bucket's tags. The number of buckets is a power of two. */
let last: usize = 0
/** The number of keys, and the number at which the table grows. */
export let count: u32 = 0
let most: u32 = 0
/** The furthest that any key has travelled since the table was filled, in bytes of tags. */
let furthest: usize = 0
/** Shifts a hash to the number of a bucket. */
let shift: u64 = 0
/** The logarithm of the power of two that all keys are multiples of. */
let keyShift: u64 = 0
/** Whether keys are hashed with the seed. */
let isSeeded: bool = false
let seed: u64 = 0

/** Sets the random seed. */
export function seedTable(value: u32): void {
  seed = secretFrom(value, 0)
}

/** The start of the table. Memory below it belongs to other modules. */
export function tableFloor(): usize {
  if (table == 0) table = (__heap_base + 63) & ~63
  return table
}

/** Makes room below the table by moving it up by a multiple of 64 bytes. @returns false if memory is exhausted */
export function raiseFloor(bytes: usize): bool {
  const from = tableFloor()
  const size: u64 = most == 0 ? 0 : sizeOf(buckets())
  if (!reach(from + size + bytes)) return false
  // checked: rooms.open(from + <usize>size, bytes)
  memory.copy(from + bytes, from, <usize>size)
  table = from + bytes
  entries += bytes
  return true
}

function buckets(): u32 {
  return <u32>(last / TAGS) + 1
}

/** The size of a table in bytes. */
function sizeOf(buckets: u32): u64 {
  return <u64>buckets * (TAGS + ENTRIES)
}

/** Ensures that memory extends to an address. */
function reach(end: u64): bool {
  const pages = (end + SLACK + 0xffff) >> 16
  const here = <u64>memory.size()
  return pages <= here || memory.grow(<i32>min<u64>(pages - here, 0x1_0000)) >= 0
}

/**
 * Removes all keys, at a cost that does not depend on their number.
 * @param ofKeys the logarithm of the power of two that keys are multiples of
 * @returns false if memory is exhausted
 */
export function clearTable(ofKeys: u64): bool {
  keyShift = ofKeys
  isSeeded = false
  if (!reach(tableFloor() + sizeOf(FEWEST))) return false
  setBuckets(FEWEST)
  return true
}

/** Resizes the table to this number of buckets, without keys. */
function setBuckets(buckets: u32): void {
  // checked: if (most != 0) rooms.close(table, <usize>sizeOf(1 + <u32>(last / TAGS)))
  // checked: rooms.open(table, <usize>sizeOf(buckets))
  last = <usize>(buckets - 1) * TAGS
  entries = table + <usize>buckets * TAGS
  shift = <u64>(clz<u32>(buckets) + 33)
  // Small tables fit the cache anyway; for large ones memory matters more.
  most = buckets <= 16_384 ? 4 * buckets : 5 * buckets
  count = 0
  furthest = 0
  memory.fill(table, 0, <usize>buckets * TAGS)
}

// @ts-ignore: decorator
@inline
function hash(key: u64): u64 {
  return isSeeded ? mix(key, seed) : rotr(key, keyShift) * GOLDEN
}

/** The offset of the tags of a key's own bucket. */
// @ts-ignore: decorator
@inline
function home(hash: u64): usize {
  return <usize>(hash >> shift) * TAGS
}

/** A key's tag in its own bucket. */
// @ts-ignore: decorator
@inline
function tagOf(hash: u64): u32 {
  return ((<u32>(hash >> 32)) & ~DISPLACED) | TAKEN
}

/** Which of a bucket's tags equal this one. */
// @ts-ignore: decorator
@inline
function equal(tags: v128, tag: u32): i32 {
  return i16x8.bitmask(i16x8.eq(tags, i16x8.splat(<i16>tag)))
}

/** The entry of a place: its key, and the values. */
// @ts-ignore: decorator
@inline
export function entryAt(place: usize): usize {
  return entries + (place - table) * (ENTRIES / TAGS)
}

/** The place of a key, or 0. */
// @ts-ignore: decorator
@inline
export function find(key: u64): usize {
  const h = hash(key)
  const bucket = table + home(h)
  const tags = v128.load(bucket)
  const matches = equal(tags, tagOf(h))
  const place = bucket + ((<usize>ctz(matches)) << 1)
  if (matches != 0 && load<u64>(entryAt(place)) == key) return place
  return findFurther(key)
}

/** The place of a key that is not the first with its tag in its own bucket, or 0. */
function findFurther(key: u64): usize {
  const h = hash(key)
  const from = home(h)
  let tag = tagOf(h)
  let at = from
  while (true) {
    const bucket = table + at
    for (let matches = equal(v128.load(bucket), tag); matches != 0; matches &= matches - 1) {
      const place = bucket + ((<usize>ctz(matches)) << 1)
      if (load<u64>(entryAt(place)) == key) return place
    }
    if (load<u16>(bucket, PASSED) == 0 || ((at - from) & last) >= furthest) return 0
    at = (at + TAGS) & last
    tag |= DISPLACED
  }
}

/** The place of a key, which is added if it is new; 0 if memory is exhausted. Places found before may have moved. */
// @ts-ignore: decorator
@inline
export function add(key: u64): usize {
  const h = hash(key)
  const bucket = table + home(h)
  const tags = v128.load(bucket)
  const tag = tagOf(h)
  const zeros = equal(tags, 0)
  // The common case: the key is new, no tag in its bucket equals its own, and the bucket has room and was never passed.
  if (equal(tags, tag) != 0 || zeros <= NONE_PASSED || count >= most) return addSlowly(key)
  const place = bucket + ((<usize>ctz(zeros)) << 1)
  count++
  store<u16>(place, tag)
  store<u64>(entryAt(place), key)
  return place
}

/** The place of a key that may be present, or for which its bucket may have no room. */
function addSlowly(key: u64): usize {
  const place = findFurther(key)
  if (place != 0) return place
  const here = buckets()
  const isFull = count >= most
  const isOdd = !isSeeded && isFar(key)
  if ((isFull || isOdd) && !refill(here, isFull ? 2 * here : here, isSeeded || isOdd)) return 0
  return put(key)
}

/** Whether a key would have to travel far. */
function isFar(key: u64): bool {
  const from = home(hash(key))
  let at = from
  while ((equal(v128.load(table + at), 0) & FREE_PLACES) == 0) at = (at + TAGS) & last
  return ((at - from) & last) > LONG
}

/** A place for a new key. */
function put(key: u64): usize {
  const h = hash(key)
  const from = home(h)
  let tag = tagOf(h)
  let at = from
  while (true) {
    const bucket = table + at
    const free = equal(v128.load(bucket), 0) & FREE_PLACES
    if (free != 0) {
      const place = bucket + ((<usize>ctz(free)) << 1)
      count++
      furthest = max<usize>(furthest, (at - from) & last)
      store<u16>(place, tag)
      store<u64>(entryAt(place), key)
      return place
    }
    store<u16>(bucket, load<u16>(bucket, PASSED) + 1, PASSED)
    at = (at + TAGS) & last
    tag |= DISPLACED
  }
}

/** Rehashes all keys, with the seed or without. @returns false, with no change, if there is no memory */
function refill(before: u32, buckets: u32, seeded: bool): bool {
  // The old table waits in memory after the new one.
  const copy = table + sizeOf(buckets)
  if (!reach(copy + sizeOf(before))) return false
  const tags = <usize>copy
  // checked: rooms.open(tags, <usize>sizeOf(before))
  memory.copy(tags, table, <usize>sizeOf(before))
  setBuckets(buckets)
  isSeeded = seeded
  const end = tags + <usize>before * TAGS
  for (let at = tags; at < end; at += 2) {
    // A count of passing keys is always below that bit.
    if (load<u16>(at) < TAKEN) continue
    const from = end + (at - tags) * (ENTRIES / TAGS)
    const to = entryAt(put(load<u64>(from)))
    store<u64>(to, load<u64>(from, FIRST), FIRST)
    store<u64>(to, load<u64>(from, SECOND), SECOND)
  }
  // checked: rooms.close(tags, <usize>sizeOf(before))
  return true
}

/** Removes the key at a place returned by `find`. */
// @ts-ignore: decorator
@inline
export function remove(place: usize): void {
  count--
  const tag = <u32>load<u16>(place)
  store<u16>(place, 0)
  if ((tag & DISPLACED) != 0) uncount(place)
}

/** Subtracts a displaced key from the counts of the buckets that it passed. */
function uncount(place: usize): void {
  const to = (place - table) & ~(TAGS - 1)
  for (let at = home(hash(load<u64>(entryAt(place)))); at != to; at = (at + TAGS) & last) {
    store<u16>(table + at, load<u16>(table + at, PASSED) - 1, PASSED)
  }
}
