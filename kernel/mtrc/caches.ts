/** The caches of names in a trace that is written. */

import { NAME_ENTRIES } from '../../lib/kernel/layouts/mtrc'
import { MOST_NAMES, nameLength, nameStart } from '../shared/names'
import { NAME_DEFINES } from './layout'
import { ENTRIES, FILE_ENTRIES } from './state'

/** Per name, its entry in the cache of functions, or 0. */
export const ENTRY_OF: usize = memory.data(8_192)
/** The same for files. */
export const FILE_ENTRY_OF: usize = ENTRY_OF + MOST_NAMES
/**
 * LRU order of the cache of functions as a circular doubly linked list: `[entry]` is the next older entry, `[entry +
 * NEWER]` the next newer. Entry 0 is the sentinel.
 */
export const USE: usize = memory.data(160)
/** The same for files. */
export const FILE_USE: usize = USE + 80
const NEWER: usize = 40
let usedFunctions: u32 = 0
let usedFiles: u32 = 0

/** Writes the entry of a name, which becomes the most recently used, and the name itself if the entry is new. */
// @ts-ignore: decorator
@inline
export function writeName(p: usize, name: u32, entries: usize, entryOf: usize, use: usize): usize {
  const entry = load<u8>(entryOf + name)
  if (entry == 0) return defineName(p, name, entries, entryOf, use)
  takeOut(use, entry)
  putFirst(use, entry)
  store<u8>(p, entry)
  return p + 1
}

/** Gives a name the first unused entry, or the least recently used one, and writes both. */
function defineName(p: usize, name: u32, entries: usize, entryOf: usize, use: usize): usize {
  const isFunction = entries == ENTRIES
  let entry = <u8>(isFunction ? usedFunctions : usedFiles)
  if (entry < <u8>NAME_ENTRIES) {
    entry++
    if (isFunction) usedFunctions = entry
    else usedFiles = entry
  } else {
    entry = load<u8>(use, NEWER)
    takeOut(use, entry)
    store<u8>(entryOf + load<u32>(entries + ((<usize>entry) << 2)) - 1, 0)
  }
  putFirst(use, entry)
  store<u32>(entries + ((<usize>entry) << 2), name + 1)
  store<u8>(entryOf + name, entry)
  store<u8>(p, entry | NAME_DEFINES)
  const length = <usize>nameLength(name)
  // There is room after both, and names are short.
  const from = nameStart(name)
  for (let at: usize = 0; at < length; at += 16) v128.store(p + 1 + at, v128.load(from + at))
  store<u8>(p + 1 + length, 0)
  return p + length + 2
}

/** Takes an entry out of the list. */
// @ts-ignore: decorator
@inline
function takeOut(use: usize, entry: u8): void {
  const older = load<u8>(use + entry)
  const newer = load<u8>(use + entry, NEWER)
  store<u8>(use + newer, older)
  store<u8>(use + older, newer, NEWER)
}

/** Puts an entry into the list as the most recently used. */
function putFirst(use: usize, entry: u8): void {
  const second = load<u8>(use)
  store<u8>(use + entry, second)
  store<u8>(use + entry, 0, NEWER)
  store<u8>(use + second, entry, NEWER)
  store<u8>(use, entry)
}

export function clearCaches(): void {
  memory.fill(ENTRY_OF, 0, 2 * MOST_NAMES)
  memory.fill(USE, 0, 160)
  usedFunctions = 0
  usedFiles = 0
}

/** Finds the entries of names again after names were numbered again. */
export function findEntries(): void {
  memory.fill(ENTRY_OF, 0, 2 * MOST_NAMES)
  for (let entry: u32 = 1; entry <= NAME_ENTRIES; entry++) {
    const caller = load<u32>(ENTRIES + ((<usize>entry) << 2))
    if (caller != 0) store<u8>(ENTRY_OF + caller - 1, <u8>entry)
    const file = load<u32>(FILE_ENTRIES + ((<usize>entry) << 2))
    if (file != 0) store<u8>(FILE_ENTRY_OF + file - 1, <u8>entry)
  }
}
