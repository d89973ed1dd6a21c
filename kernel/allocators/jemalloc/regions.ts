/**
 * Regions of address space that jemalloc 5 maps. The position of a region is unknown until the first address in it is
 * seen. So extents have virtual addresses: the highest bit, the number of the region, and the offset in it.
 */
const SHIFT: u64 = 44
const OFFSET: u64 = (1 << SHIFT) - 1
const VIRTUAL: u64 = 1 << 63
/** The maximum number of regions. */
const MOST: u32 = 2048

/** Per region: its address, 0 if unknown; its length; and whether the address is known or guessed. */
const ROWS: usize = memory.data(65536)
const LENGTH: usize = 8
const KNOWN: usize = 16
let count: u32 = 0
/** The lowest region that is known: the next one is likely to end there. */
let lowest: u64 = 0
/** Whether all addresses follow from the calls alone, as in a simulation without a trace to compare with. */
export let areFixed: bool = false
/** Whether a request failed because no addresses were left. */
export let areUsedUp: bool = false

export function clearRegions(): void {
  count = 0
  lowest = 0
  areFixed = areUsedUp = false
}

export function noteNoAddresses(): void {
  areUsedUp = true
}

/** The end of the first region. Each further region ends where the previous one begins. */
export function fixRegions(top: u64): void {
  lowest = top
  areFixed = true
}

/**
 * Takes addresses below all earlier ones, where addresses are fixed. @param alignment of the address, a power of two
 * @returns 0 if there are none left
 */
export function takeBelow(length: u64, alignment: u64): u64 {
  const at = length >= lowest ? 0 : (lowest - length) & ~(alignment - 1)
  if (at != 0) lowest = at
  else areUsedUp = true
  return at
}

function rowOf(base: u64): usize {
  return ROWS + ((<usize>((base & ~VIRTUAL) >> SHIFT)) << 5)
}

/** A new region. @returns its virtual address, 0 if there are too many or no addresses for it */
export function addRegion(length: u64): u64 {
  if (count + 1 >= MOST || (areFixed && length >= lowest)) {
    areUsedUp = true
    return 0
  }
  const base = VIRTUAL | ((<u64>++count) << SHIFT)
  const guess = lowest > length ? lowest - length : 0
  store<u64>(rowOf(base), guess)
  store<u64>(rowOf(base), length, LENGTH)
  store<u64>(rowOf(base), 0, KNOWN)
  if (guess != 0) lowest = guess
  return base
}

/** The true address of a virtual or true address; 0 if unknown. */
export function trueAddress(base: u64): u64 {
  if (base < VIRTUAL) return base
  const at = load<u64>(rowOf(base))
  return at == 0 ? 0 : at + (base & OFFSET)
}

/** Whether the true address is certain. */
export function isPlaced(base: u64): bool {
  return base < VIRTUAL || load<u64>(rowOf(base), KNOWN) != 0
}

/** Whether two addresses are in one region, or neither is virtual. */
export function areTogether(one: u64, other: u64): bool {
  return ((one | other) & VIRTUAL) == 0 || one >> SHIFT == other >> SHIFT
}

/** Notes the true address of a virtual one. */
export function placeRegion(base: u64, address: u64): void {
  const at = address - (base & OFFSET)
  store<u64>(rowOf(base), at)
  store<u64>(rowOf(base), 1, KNOWN)
  lowest = lowest == 0 ? at : min(lowest, at)
}

/** Notes that a predicted address in a region was right. */
export function confirmRegion(base: u64): void {
  if (base >= VIRTUAL) store<u64>(rowOf(base), 1, KNOWN)
}

/** The virtual address of an address in a known region; otherwise the address itself. */
export function virtualAddress(address: u64): u64 {
  for (let region: u32 = 1; region <= count; region++) {
    const row = ROWS + ((<usize>region) << 5)
    const at = load<u64>(row)
    if (load<u64>(row, KNOWN) != 0 && address >= at && address - at < load<u64>(row, LENGTH))
      return VIRTUAL | ((<u64>region) << SHIFT) | (address - at)
  }
  return address
}
