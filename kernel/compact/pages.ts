/**
 * The first live block of each 16 bytes of addresses: a hash of pages of 256 bytes, and in each page a word for each 16
 * bytes, so that neighbours in the traced heap are neighbours here.
 */

import { giveBack, take } from './room'

/** The bytes of a page's words, and the logarithm of that. */
const PAGE: u32 = 64
const PAGE_LOG: u32 = 6
const FEWEST: u32 = 1024

/** The numbers of pages, each plus 1 so that 0 is a free slot, and where their words are. */
let keys: usize = 0
let places: usize = 0
let slots: u32 = 0
let used: u32 = 0
/** The words of all pages, the room for them, and the next unused one. */
let words: usize = 0
let room: u32 = 0
let pages: u32 = 0

/** The page that was used last, plus 1, and where it is. */
let lastKey: u64 = 0
let lastPlace: u32 = 0
let seed: u64 = 1

export function seedPages(value: u32): void {
  seed = (((<u64>value) << 32) | value) * 0x9e37_79b9_7f4a_7c15
}

export function resetPages(): void {
  if (slots != 0) memory.fill(keys, 0, (<usize>slots) << 3)
  used = 0
  pages = 0
  lastKey = 0
}

// @ts-ignore: decorator
@inline
function slotOf(key: u64): u32 {
  const x = (key ^ seed) * 0x9e37_79b9_7f4a_7c15
  return (<u32>((x ^ (x >> 29)) >> 20)) & (slots - 1)
}

/** The page of a key, in words from the first; -1 if there is none. */
function find(key: u64): u32 {
  if (key == lastKey) return lastPlace
  if (slots == 0) return u32.MAX_VALUE
  let slot = slotOf(key)
  let here: u64
  while ((here = load<u64>(keys + ((<usize>slot) << 3))) != 0) {
    if (here == key) {
      lastKey = key
      lastPlace = load<u32>(places + ((<usize>slot) << 2))
      return lastPlace
    }
    slot = (slot + 1) & (slots - 1)
  }
  return u32.MAX_VALUE
}

/** The first block within the 16 bytes of a key, or 0. */
// @ts-ignore: decorator
@inline
export function findHead(key: u64): u32 {
  const place = find((key >> 8) + 1)
  return place == u32.MAX_VALUE ? 0 : load<u32>(words + place + (((<usize>(key >> 4)) & 15) << 2))
}

/** Sets the first block within the 16 bytes of a key. @returns false if memory is exhausted */
export function linkHead(key: u64, block: u32): bool {
  const page = (key >> 8) + 1
  let place = find(page)
  if (place == u32.MAX_VALUE) {
    if (block == 0) return true
    place = add(page)
    if (place == u32.MAX_VALUE) return false
  }
  store<u32>(words + place + (((<usize>(key >> 4)) & 15) << 2), block)
  return true
}

function add(key: u64): u32 {
  if ((used + 1) << 1 > slots && !rebuild()) return u32.MAX_VALUE
  if ((pages + 1) << PAGE_LOG > room) {
    const size = max<u32>(FEWEST << PAGE_LOG, room << 1)
    const larger = take(size)
    if (larger == 0) return u32.MAX_VALUE
    if (room != 0) {
      memory.copy(larger, words, room)
      giveBack(words, room)
    }
    words = larger
    room = size
  }
  const place = pages++ << PAGE_LOG
  memory.fill(words + place, 0, PAGE)
  enter(key, place)
  lastKey = key
  lastPlace = place
  return place
}

function enter(key: u64, place: u32): void {
  let slot = slotOf(key)
  while (load<u64>(keys + ((<usize>slot) << 3)) != 0) slot = (slot + 1) & (slots - 1)
  store<u64>(keys + ((<usize>slot) << 3), key)
  store<u32>(places + ((<usize>slot) << 2), place)
  used++
}

/** Removes the pages without blocks, and doubles the hash if more than a quarter of it is still used. */
function rebuild(): bool {
  const oldKeys = keys
  const oldPlaces = places
  const oldSlots = slots
  const oldWords = words
  const oldRoom = room
  let full: u32 = 0
  for (let slot: u32 = 0; slot < oldSlots; slot++) {
    if (load<u64>(oldKeys + ((<usize>slot) << 3)) != 0 && !isEmpty(words + load<u32>(oldPlaces + ((<usize>slot) << 2))))
      full++
  }
  const size = max<u32>(FEWEST, full << 2 >= oldSlots ? oldSlots << 1 : oldSlots)
  const newKeys = take(size << 3)
  const newPlaces = take(size << 2)
  const newRoom = max<u32>(FEWEST, full + (full >> 1)) << PAGE_LOG
  const newWords = take(newRoom)
  if (newKeys == 0 || newPlaces == 0 || newWords == 0) return false
  keys = newKeys
  places = newPlaces
  slots = size
  words = newWords
  room = newRoom
  used = 0
  pages = 0
  lastKey = 0
  for (let slot: u32 = 0; slot < oldSlots; slot++) {
    const key = load<u64>(oldKeys + ((<usize>slot) << 3))
    if (key == 0) continue
    const page = oldWords + load<u32>(oldPlaces + ((<usize>slot) << 2))
    if (isEmpty(page)) continue
    memory.copy(words + ((<usize>pages) << PAGE_LOG), page, PAGE)
    enter(key, pages++ << PAGE_LOG)
  }
  if (oldSlots != 0) {
    giveBack(oldKeys, oldSlots << 3)
    giveBack(oldPlaces, oldSlots << 2)
  }
  if (oldRoom != 0) giveBack(oldWords, oldRoom)
  return true
}

function isEmpty(page: usize): bool {
  const a = v128.or(v128.load(page), v128.load(page, 16))
  const b = v128.or(v128.load(page, 32), v128.load(page, 48))
  return !v128.any_true(v128.or(a, b))
}
