/**
 * A hash table from 64-bit keys to two 64-bit values, for the live blocks of a trace: one for each instance, in memory
 * that grows.
 *
 * Buckets of seven places: by their tags, 16 bits of the hash, all seven are looked through at once, so that it makes
 * no difference to the processor's guesses which of them has the key. What a full bucket has no place for goes to the
 * next one that has; a bucket counts the keys that passed it by, and where none did a search ends. So nothing has to
 * move when a key is removed. No search goes further than any key had to: counts alone would not end one if keys were
 * chosen to pass by every bucket.
 *
 * Keys are mostly neighbours: indices that count up, addresses of one heap. The hash that a table begins with
 * multiplies by the golden ratio, which spreads rows of numbers more evenly than chance does. If keys have to go far
 * all the same, because they were chosen to, the table is filled anew by a hash with a seed that nobody knows.
 */

/** Where the values are, from an entry. */
export const FIRST: usize = 8
export const SECOND: usize = 16

const FEWEST: u32 = 16
/** Bytes of tags in a bucket: of its seven places, and the count of keys that passed by in place of an eighth. */
const TAGS: usize = 16
const PASSED: usize = 14
/** Bits of those of eight tags that are zero: the places that are free, and that no key passed by. */
const FREE_PLACES: i32 = 0x7f
const NONE_PASSED: i32 = 0x80
/** Bytes of entries in a bucket: a key and two values for each of eight tags, though there are only seven. */
const ENTRIES: usize = 192
/** What a key may have to pass by, in bytes of tags, before keys are taken for chosen ones. */
const LONG: usize = TAGS * 32
/** Loads from memory may reach so far behind what they mean. */
const SLACK: u64 = 64

/** A place that has a key has this bit in its tag, */
const TAKEN: u32 = 0x8000
/** and this one if the key belongs to a bucket before. */
const DISPLACED: u32 = 1

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15

/** Where the table begins: the tags. */
let table: usize = 0
/** Where the entries begin: that of the tag n bytes into the table is 12 n bytes from here. */
let entries: usize = 0
/** The offset of the last bucket's tags. Buckets are a power of two. */
let last: usize = 0
/** How many keys there are, and at how many the table grows. */
let count: u32 = 0
let most: u32 = 0
/** What any key passed by since the table was filled, in bytes of tags. */
let furthest: usize = 0
/** Leaves of a hash the number of a bucket. */
let shift: u64 = 0
/** Of keys that are multiples of a power of two, its logarithm. */
let keyShift: u64 = 0
/** Keys are hashed with the seed. */
let isSeeded: bool = false
let seed: u64 = 0

/** Sets what nobody knows. */
export function seedTable(value: u32): void {
  seed = <u64>value * 0xff51_afd7_ed55_8ccd
}

/** Where the table begins: what is below it belongs to others. */
export function tableFloor(): usize {
  if (table == 0) table = (__heap_base + 63) & ~63
  return table
}

/** Makes room of so many bytes, a multiple of 64, below the table by moving it up. @returns whether there is memory */
export function raiseFloor(bytes: usize): bool {
  const from = tableFloor()
  const size: u64 = most == 0 ? 0 : sizeOf(buckets())
  if (!reach(from + size + bytes)) return false
  memory.copy(from + bytes, from, <usize>size)
  table = from + bytes
  entries += bytes
  return true
}

function buckets(): u32 {
  return <u32>(last / TAGS) + 1
}

/** How many bytes a table takes. */
function sizeOf(buckets: u32): u64 {
  return <u64>buckets * (TAGS + ENTRIES)
}

/** Makes sure that memory goes as far as an address. */
function reach(end: u64): bool {
  const pages = (end + SLACK + 0xffff) >> 16
  const here = <u64>memory.size()
  return pages <= here || memory.grow(<i32>min<u64>(pages - here, 0x1_0000)) >= 0
}

/**
 * Forgets all keys, at a cost that does not depend on their number.
 * @param ofKeys the logarithm of the power of two that keys are multiples of
 * @returns whether there is memory
 */
export function clearTable(ofKeys: u64): bool {
  keyShift = ofKeys
  isSeeded = false
  if (!reach(tableFloor() + sizeOf(FEWEST))) return false
  setBuckets(FEWEST)
  return true
}

/** Makes the table one of so many buckets without keys. */
function setBuckets(buckets: u32): void {
  last = <usize>(buckets - 1) * TAGS
  entries = table + <usize>buckets * TAGS
  shift = <u64>(clz<u32>(buckets) + 33)
  // Small tables lie in the cache as they are; of large ones memory matters.
  most = buckets <= 16_384 ? 4 * buckets : 5 * buckets
  count = 0
  furthest = 0
  memory.fill(table, 0, <usize>buckets * TAGS)
}

// @ts-ignore: decorator
@inline
function hash(key: u64): u64 {
  return isSeeded ? seededHash(key) : rotr(key, keyShift) * GOLDEN
}

function seededHash(key: u64): u64 {
  let h = (key ^ seed) * GOLDEN
  h ^= h >> 32
  h = (h ^ seed) * 0xbf58_476d_1ce4_e5b9
  return h ^ (h >> 32)
}

/** The offset of the tags in the bucket that a key belongs to. */
// @ts-ignore: decorator
@inline
function home(hash: u64): usize {
  return <usize>(hash >> shift) * TAGS
}

/** A key's tag in that bucket. */
// @ts-ignore: decorator
@inline
function tagOf(hash: u64): u32 {
  return ((<u32>(hash >> 32)) & ~DISPLACED) | TAKEN
}

/** Which of a bucket's tags are equal to one. */
// @ts-ignore: decorator
@inline
function equal(tags: v128, tag: u32): i32 {
  return i16x8.bitmask(i16x8.eq(tags, i16x8.splat(<i16>tag)))
}

/** The entry at a place: its key, and the values. */
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

/** The place of a key that is not the first with its tag in the bucket it belongs to, or 0. */
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

/**
 * The place of a key, made if there is none yet; 0 if there is no memory for it. Places found before may have moved.
 */
// @ts-ignore: decorator
@inline
export function add(key: u64): usize {
  const h = hash(key)
  const bucket = table + home(h)
  const tags = v128.load(bucket)
  const tag = tagOf(h)
  const zeros = equal(tags, 0)
  // Most keys are new, nothing in their bucket has their tag, and it has no less than one place, nor had it ever.
  if (equal(tags, tag) != 0 || zeros <= NONE_PASSED || count >= most) return addSlowly(key)
  const place = bucket + ((<usize>ctz(zeros)) << 1)
  count++
  store<u16>(place, tag)
  store<u64>(entryAt(place), key)
  return place
}

/** The place of a key that may be there, or that a table which may be full has no place for where the key belongs. */
function addSlowly(key: u64): usize {
  const place = findFurther(key)
  if (place != 0) return place
  const here = buckets()
  const isFull = count >= most
  const isOdd = !isSeeded && isFar(key)
  if (isOdd) isSeeded = true
  if ((isFull || isOdd) && !refill(here, isFull ? 2 * here : here)) return 0
  return put(key)
}

/** Whether a key would have to pass by many buckets. */
function isFar(key: u64): bool {
  const from = home(hash(key))
  let at = from
  while ((equal(v128.load(table + at), 0) & FREE_PLACES) == 0) at = (at + TAGS) & last
  return ((at - from) & last) > LONG
}

/** A new place for a key that is not there. */
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

/** Places all keys anew. */
function refill(before: u32, buckets: u32): bool {
  // They wait in memory behind the table.
  const copy = table + sizeOf(buckets)
  if (!reach(copy + sizeOf(before))) return false
  const tags = <usize>copy
  memory.copy(tags, table, <usize>sizeOf(before))
  setBuckets(buckets)
  const end = tags + <usize>before * TAGS
  for (let at = tags; at < end; at += 2) {
    // A count of keys that passed by is less than that bit.
    if (load<u16>(at) < TAKEN) continue
    const from = end + (at - tags) * (ENTRIES / TAGS)
    const to = entryAt(put(load<u64>(from)))
    store<u64>(to, load<u64>(from, FIRST), FIRST)
    store<u64>(to, load<u64>(from, SECOND), SECOND)
  }
  return true
}

/** Removes the key at a place that `find` gave. */
// @ts-ignore: decorator
@inline
export function remove(place: usize): void {
  count--
  const tag = <u32>load<u16>(place)
  store<u16>(place, 0)
  if ((tag & DISPLACED) != 0) uncount(place)
}

/** Takes a key that was displaced out of the counts of the buckets that it passed by. */
function uncount(place: usize): void {
  const to = (place - table) & ~(TAGS - 1)
  for (let at = home(hash(load<u64>(entryAt(place)))); at != to; at = (at + TAGS) & last) {
    store<u16>(table + at, load<u16>(table + at, PASSED) - 1, PASSED)
  }
}
