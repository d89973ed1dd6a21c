import type { OpList } from './op-list.js'

/**
 * The places where blocks are kept. Each slot belongs to one live block at a time, and is reused when the block has
 * ended: by the thread that freed it or, if that thread has enough slots, by another one, which must then be ordered
 * after it.
 */
export class Slots {
  /** The number of slots. */
  count = 0
  /**
   * The origin of the slot that `take` returned: the thread that freed it, after how many operations, and in which
   * epoch.
   */
  thread = -1
  position = 0
  epoch = 0
  /** A queue of slots that any thread may take: a ring. */
  private slots = new Uint32Array(256)
  private threads = new Int32Array(256)
  private epochs = new Uint32Array(256)
  private positions = new Float64Array(256)
  private first = 0
  private length = 0

  /** A slot for a block that a thread allocates. `thread` is -1 if no order is necessary. */
  take(list: OpList): number {
    this.thread = -1
    if (list.free > 0) return list.slots[--list.free]
    if (this.length === 0) return this.count++
    const at = this.first
    this.first = (at + 1) & (this.slots.length - 1)
    this.length--
    const thread = this.threads[at]
    if (thread !== list.number) {
      this.thread = thread
      this.position = this.positions[at]
      this.epoch = this.epochs[at]
    }
    return this.slots[at]
  }

  /** Notes that a thread freed the block of a slot with its last operation. */
  give(list: OpList, slot: number): void {
    if (list.free < list.slots.length && !list.isOver) list.slots[list.free++] = slot
    else this.share(list, slot)
  }

  /** Gives the slots of a thread that has ended to others. */
  shareAll(list: OpList): void {
    while (list.free > 0) this.share(list, list.slots[--list.free])
  }

  private share(list: OpList, slot: number): void {
    if (this.length === this.slots.length) this.grow()
    const at = (this.first + this.length) & (this.slots.length - 1)
    this.slots[at] = slot
    this.threads[at] = list.number
    this.positions[at] = list.ops
    this.epochs[at] = list.epoch
    this.length++
  }

  private grow(): void {
    this.slots = unrolled(this.slots, this.first, new Uint32Array(2 * this.length))
    this.threads = unrolled(this.threads, this.first, new Int32Array(2 * this.length))
    this.epochs = unrolled(this.epochs, this.first, new Uint32Array(2 * this.length))
    this.positions = unrolled(this.positions, this.first, new Float64Array(2 * this.length))
    this.first = 0
  }
}

/** Copies a full ring to the beginning of a larger one. */
function unrolled<Numbers extends Uint32Array | Int32Array | Float64Array>(
  from: Numbers,
  first: number,
  to: Numbers,
): Numbers {
  to.set(from.subarray(first))
  to.set(from.subarray(0, first), from.length - first)
  return to
}
