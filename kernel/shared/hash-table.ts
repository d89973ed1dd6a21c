/**
 * The hash table of the kernels: from 64-bit keys to 64-bit values that are not 0. Larger slots have more data after
 * the value. Open addressing with linear probing and backward-shift deletion: a search mostly touches one cache line.
 *
 * The hash is keyed, so no trace can contain keys chosen to collide. If a key is nevertheless far from its own slot,
 * the table is filled again with another secret.
 */
import { giveRoom, takeZeros } from '../live/room'
import { mix, newSecret } from './hash'

/** The offsets in a slot: the key; the value, 0 in an empty slot; and the data after it. */
export const KEY: usize = 0
export const VALUE: usize = 8
export const MORE: usize = 16

/** The logarithms of the minimum number of slots, and of their maximum size in bytes. */
const FEWEST: u32 = 8
const MOST_BYTES: u32 = 31
/** The logarithm of the size of a slot without data after the value. */
const SLOT: u32 = 4
/**
 * Tables with up to this logarithm of the number of slots use half of them. Larger ones use 5/8, because memory matters
 * more.
 */
const SMALL: u32 = 16
/** The distance of a key from its own slot, in slots, beyond which the secret is changed. */
const FAR: usize = 256

/** A table, in `TABLE` bytes of memory that are 0 at first. */
@unmanaged
export class HashTable {
  /** The first slot, and the offset of the last one. */
  slots: usize
  last: usize
  /** The size of a slot in bytes: 16, and 16 more for each value of `extra`. */
  step: usize
  extra: u32
  /** The logarithm of the number of slots; 0 if there are none. */
  log: u32
  /** The number of keys, and the number at which the table grows. */
  used: u32
  most: u32
  /** The secret is not changed before there are this many keys. */
  calm: u32
  /** Shifts a hash to the offset of a slot. */
  shift: u64
  secret: u64

  /** The offset of a key's own slot. */
  @inline
  home(key: u64): usize {
    return (<usize>(mix(key, this.secret) >> this.shift)) & this.last
  }

  /** The slot of a key, or the empty slot where it would be. There must be slots. */
  @inline
  slotOf(key: u64): usize {
    const slots = this.slots
    const last = this.last
    const step = this.step
    let at = this.home(key)
    while (load<u64>(slots + at, VALUE) != 0 && load<u64>(slots + at) != key) at = (at + step) & last
    return slots + at
  }

  /** Uses this number of slots in memory of the caller, which must be zero. At most half of the slots may be used. */
  useSlots(slots: usize, log: u32): void {
    this.secret = newSecret()
    this.slots = slots
    this.setSize(log)
    // The secret cannot be changed, because the keys would have to move.
    this.calm = u32.MAX_VALUE
  }

  /** Removes all keys, and frees the memory. */
  clear(): void {
    if (this.log != 0) giveRoom(this.slots, this.log + SLOT + this.extra)
    this.log = 0
    this.used = this.most = this.calm = 0
  }

  /** Removes all keys, at a cost that does not depend on their number. @returns whether there is memory */
  restart(): bool {
    if (this.log > FEWEST) this.clear()
    if (this.log == 0) return this.make(FEWEST)
    this.forget()
    return true
  }

  /** Removes all keys, and keeps the memory. */
  forget(): void {
    if (this.used > 0) memory.fill(this.slots, 0, this.last + this.step)
    this.used = 0
    if (this.calm != u32.MAX_VALUE) this.calm = 0
  }

  /** Makes room for this many more keys. Slots may move. @returns whether there is memory */
  @inline
  reserve(more: u32): bool {
    return this.used + more <= this.most || this.grow(more)
  }

  grow(more: u32): bool {
    const keys = <u64>this.used + more
    let log = max(this.log, FEWEST)
    while (mostOf(log) < keys) log++
    return this.make(log)
  }

  /** The slot of a new key, whose value the caller sets. There must be room for it. @param slot as `slotOf` gives it */
  @inline
  put(slot: usize, key: u64): usize {
    store<u64>(slot, key)
    this.used++
    return ((slot - this.slots - this.home(key)) & this.last) > FAR * this.step ? this.putFar(slot, key) : slot
  }

  putFar(slot: usize, key: u64): usize {
    if (this.used < this.calm) return slot
    this.calm = 2 * this.used
    const before = this.secret
    this.secret = 0
    if (!this.make(this.log)) {
      this.secret = before
      return slot
    }
    slot = this.slotOf(key)
    store<u64>(slot, key)
    return slot
  }

  /**
   * The slot of a key, which is added if it is new: then the value is 0, and the caller sets it. Other slots may move.
   * There must be slots.
   * @returns 0 if memory is exhausted
   */
  @inline
  add(key: u64): usize {
    const slot = this.slotOf(key)
    if (load<u64>(slot, VALUE) != 0) return slot
    return this.used < this.most ? this.put(slot, key) : this.addAndGrow(key)
  }

  addAndGrow(key: u64): usize {
    return this.grow(1) ? this.put(this.slotOf(key), key) : 0
  }

  /** Removes the key of a slot. Other slots may move. */
  @inline
  remove(slot: usize): void {
    this.used--
    if (load<u64>(this.slots + ((slot - this.slots + this.step) & this.last), VALUE) == 0) this.empty(slot)
    else this.shiftBack(slot)
  }

  empty(slot: usize): void {
    for (const end = slot + this.step; slot < end; slot += 16) v128.store(slot, i64x2.splat(0))
  }

  /** Fills the slot of a key that is removed with a later one of the same probe sequence, and so on. */
  shiftBack(slot: usize): void {
    const slots = this.slots
    const last = this.last
    const step = this.step
    let hole = slot - slots
    let next = hole
    while (true) {
      next = (next + step) & last
      if (load<u64>(slots + next, VALUE) == 0) break
      if (((next - this.home(load<u64>(slots + next))) & last) < ((next - hole) & last)) continue
      for (let n: usize = 0; n < step; n += 16) v128.store(slots + hole + n, v128.load(slots + next + n))
      hole = next
    }
    this.empty(slots + hole)
  }

  setSize(log: u32): void {
    const slot = SLOT + this.extra
    this.log = log
    this.step = (<usize>1) << slot
    this.last = (((<usize>1) << log) - 1) << slot
    this.shift = 64 - <u64>(log + slot)
    this.most = <u32>mostOf(log)
  }

  /**
   * Moves all keys to this many slots. A secret of 0 is changed. @returns false, with no change, if memory is exhausted
   */
  make(log: u32): bool {
    const extra = this.extra
    const room = log + SLOT + extra
    const made: usize = room > MOST_BYTES ? 0 : takeZeros(room)
    if (made == 0) return false
    const before = this.log
    const from = this.slots
    const end = from + this.last + this.step
    // Under the same secret, keys keep their order, so that the new slots are written from the first to the last.
    if (before == 0 || this.secret == 0) this.secret = newSecret()
    this.slots = made
    this.setSize(log)
    if (before == 0) return true
    const step = this.step
    for (let slot = from; slot < end; slot += step) {
      if (load<u64>(slot, VALUE) == 0) continue
      const to = this.slotOf(load<u64>(slot))
      for (let n: usize = 0; n < step; n += 16) v128.store(to + n, v128.load(slot + n))
    }
    giveRoom(from, before + SLOT + extra)
    return true
  }
}

/** The size of a table's own fields in bytes. */
export const TABLE: i32 = 48

/** The number of slots that may be used. */
function mostOf(log: u32): u64 {
  return log <= SMALL ? (<u64>1) << (log - 1) : (<u64>5) << (log - 3)
}
