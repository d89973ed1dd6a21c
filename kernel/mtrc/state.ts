/** The state of a trace that is read or written. */

import { forgetOthers } from '../shared/names'

/** Records have thread, function, file and line. */
export let sources: bool = false
/** Frees and reallocations get the address and size of the block that their index refers to. */
export let resolve: bool = false

/** Per entry of the cache of functions, 1 plus the number of a name, or 0 if it is not defined. Entry 0 is not used. */
export const ENTRIES: usize = memory.data(264)
/** The same for files. */
export const FILE_ENTRIES: usize = ENTRIES + 132
/** Per name: its id in the batch that it was last in (low half), and the number of that batch (high half). */
export const IN_BATCH: usize = memory.data(32_768)
/** The number of the current batch. It also changes when names are numbered again. */
export let now: u32 = 0

export function setTrace(hasSources: bool, resolves: bool): void {
  sources = hasSources
  resolve = resolves
  memory.fill(ENTRIES, 0, 264)
}

/** Invalidates everything known about the strings of a batch. */
export function nextBatch(): void {
  now++
}

/** Forgets the names that are in no cache, and numbers the others again. */
export function forget(): void {
  forgetOthers(ENTRIES, ENTRIES + 264)
  now++
}
