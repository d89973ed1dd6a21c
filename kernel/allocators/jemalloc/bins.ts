/** Bins: per arena and class, the runs with free regions. A region is identified by its run's number and its own. */
import { exists, extent, freeRegion, isFree, isLive, lowestFree, makeRun, RUN, useAll, useRegion } from './extents'
import { forgetPages, freePages, movePages, takePages } from './pages'
import { trueAddress } from './regions'
import { MOST_CLASSES, sizeClass } from './rules'
import { first, insert, isBefore as isLower, remove } from './sets'

/** Per arena and class: the run that regions are taken from, and the set of other runs with free regions. */
const ARENAS: u32 = 64
const BINS: usize = memory.data(32768)
export const REGION_LOG: u32 = 11
/** The maximum number of runs that one call marks as having no free regions. */
const MOST_DRAINED: u32 = 64
const REGION: u32 = (1 << REGION_LOG) - 1

export function clearBins(): void {
  memory.fill(BINS, 0, <usize>ARENAS * MOST_CLASSES * 8)
}

function binOf(arena: u32, c: u32): usize {
  return BINS + ((<usize>((arena & (ARENAS - 1)) * MOST_CLASSES + c)) << 3)
}
export function currentRun(arena: u32, c: u32): u32 {
  return load<u32>(binOf(arena, c))
}

export function runOf(handle: u32): u32 {
  return handle >> REGION_LOG
}
export function regionOf(handle: u32): u32 {
  return handle & REGION
}

/** Whether a handle identifies a region, of any class. */
// @ts-ignore: decorator
@inline
export function isRegion(handle: u32): bool {
  const run = handle >> REGION_LOG
  return exists(run) && extent(run).state == RUN && (handle & REGION) < sizeClass(extent(run).class).regions
}

/** The address of a region or large block; 0 if unknown. */
// @ts-ignore: decorator
@inline
export function addressOf(handle: u32): u64 {
  const run = handle >> REGION_LOG
  const base = trueAddress(extent(run).base)
  if (base == 0) return 0
  if (extent(run).state != RUN) return base + extent(run).offset
  const c = extent(run).class
  return base + sizeClass(c).first + (handle & REGION) * sizeClass(c).size
}

/** Takes the lowest free region of the bin's oldest or lowest run. @returns its handle, 0 if memory is exhausted */
export function takeRegion(arena: u32, c: u32): u32 {
  const bin = binOf(arena, c)
  let run = load<u32>(bin)
  if (run == 0 || extent(run).free == 0) {
    run = first(bin + 4)
    if (run != 0) remove(bin + 4, run)
    else {
      run = takePages(arena, sizeClass(c).pages, 1, RUN)
      if (run != 0 && !makeRun(run, c, 0)) {
        forgetPages(run)
        run = 0
      }
    }
    store<u32>(bin, run)
    if (run == 0) return 0
  }
  const region = lowestFree(run, 0)
  useRegion(run, region)
  return (run << REGION_LOG) | region
}

/**
 * Takes the next region after a given one that is free or, with `any`, not live.
 * @returns its handle, 0 if there is none
 */
export function takeAfter(handle: u32, any: bool): u32 {
  const run = handle >> REGION_LOG
  const regions = sizeClass(extent(run).class).regions
  let region = (handle & REGION) + 1
  if (any) while (region < regions && isLive(run, region)) region++
  else region = lowestFree(run, region)
  if (region >= regions) return 0
  claim(run, region)
  return (run << REGION_LOG) | region
}

/** Gives a region back to its run. Ignores a region that is free or in use, or that no longer exists. */
export function returnRegion(handle: u32): void {
  if (!isRegion(handle)) return
  const run = handle >> REGION_LOG
  const region = handle & REGION
  if (isFree(run, region) || isLive(run, region)) return
  freeRegion(run, region)
  const c = extent(run).class
  const bin = binOf(extent(run).arena, c)
  const free = extent(run).free
  if (free == sizeClass(c).regions) {
    forgetRun(run, free - 1)
    freePages(run)
  } else if (free == 1) lower(bin, run)
}

/**
 * Called when a full run gets its first free region. The lower of this run and the current one becomes the current one.
 */
function lower(bin: usize, run: u32): void {
  const current = load<u32>(bin)
  if (current == run) return
  if (current != 0 && isLower(run, current)) {
    if (extent(current).free > 0) insert(bin + 4, current)
    store<u32>(bin, run)
  } else insert(bin + 4, run)
}

/** Marks a region as used that was wrongly simulated as free. */
export function claim(run: u32, region: u32): void {
  if (!isFree(run, region)) return
  const bin = binOf(extent(run).arena, extent(run).class)
  if (extent(run).free == 1 && load<u32>(bin) != run) remove(bin + 4, run)
  useRegion(run, region)
}

/** Marks the regions below a region as used, because it turned out to be the lowest free one. */
export function passOver(run: u32, region: u32): void {
  for (let i = lowestFree(run, 0); i < region; i = lowestFree(run, i + 1)) claim(run, i)
}

/** Makes a run the current one, from which regions are taken. */
export function makeCurrent(run: u32): void {
  const bin = binOf(extent(run).arena, extent(run).class)
  const current = load<u32>(bin)
  if (current == run) return
  if (extent(run).free > 0) remove(bin + 4, run)
  if (current != 0 && extent(current).free > 0) insert(bin + 4, current)
  store<u32>(bin, run)
}

/** Removes a run from its bin. @param free its previous number of free regions */
export function forgetRun(run: u32, free: u32): void {
  const bin = binOf(extent(run).arena, extent(run).class)
  if (load<u32>(bin) == run) store<u32>(bin, 0)
  else if (free > 0) remove(bin + 4, run)
}

/** Moves a run to its actual address, which differs from the assumed one. */
export function moveRun(run: u32, base: u64): void {
  const bin = binOf(extent(run).arena, extent(run).class)
  const isInSet = extent(run).free > 0 && load<u32>(bin) != run
  if (isInSet) remove(bin + 4, run)
  movePages(run, base)
  if (isInSet) insert(bin + 4, run)
}

/**
 * Corrects a bin after a region was taken from this run: earlier runs have no free regions; if the run is new, no other
 * has.
 */
export function drain(run: u32, isNew: bool): void {
  const bin = binOf(extent(run).arena, extent(run).class)
  for (let i: u32 = 0; i < MOST_DRAINED; i++) {
    const other = first(bin + 4)
    if (other == 0 || other == run || (!isNew && isLower(run, other))) return
    remove(bin + 4, other)
    if (extent(other).guessed != 0) forgetPages(other)
    else useAll(other)
  }
}
