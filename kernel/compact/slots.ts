/** Slots, by a hash of the context: the two likely next symbols, with their counts, and a check of the hash. */
@unmanaged
export class Slot {
  first: u16
  second: u16
  check: u16
  firstCount: u8
  secondCount: u8
}

const MOST_COUNT: u8 = 15

/** The slot of a hash, of which the upper bits are the index. A slot of another hash is emptied first. */
// @ts-ignore: decorator
@inline
export function slotAt(slots: usize, hash: u32, shift: u32): Slot {
  const slot = changetype<Slot>(slots + ((<usize>(hash >> shift)) << 3))
  if (slot.check != <u16>hash) {
    slot.check = <u16>hash
    slot.firstCount = 0
    slot.secondCount = 0
  }
  return slot
}

export function learn(slot: Slot, symbol: u16): void {
  if (slot.firstCount != 0 && slot.first == symbol) {
    if (slot.firstCount < MOST_COUNT) slot.firstCount++
  } else if (slot.secondCount != 0 && slot.second == symbol) {
    if (++slot.secondCount < slot.firstCount) return
    const count = slot.secondCount
    slot.second = slot.first
    slot.secondCount = slot.firstCount
    slot.first = symbol
    slot.firstCount = count
  } else if (slot.firstCount == 0) {
    slot.first = symbol
    slot.firstCount = 1
  } else {
    slot.second = symbol
    slot.secondCount = 1
    if (slot.firstCount > 1) slot.firstCount >>= 1
  }
}
