import { HI, LO } from '../bytes/u64.js'
import { BATCH_EVENTS, type EventBatch } from '../event/batch.js'
import { Kind } from '../event/fields.js'
import { formatsOf, type TraceHeader } from '../event/header.js'
import { BlockEffect } from './block-effect.js'
import { INDEXED, type BlockKeys } from './block-keys.js'
import type { SpacesError } from './address-spaces.js'
import { LiveSet } from './live-set.js'

const { began: BEGAN, ended: ENDED, reused: REUSED } = BlockEffect
const { free: FREE, realloc: REALLOC, 'process-end': PROCESS_END } = Kind

/** With the label of a realloc: its block had no label before, so the realloc must become an allocation. */
export const BEGINS_HERE = 0x8000_0000
/**
 * With the label of a block that the event ends because it begins another one at the same address: the event itself
 * does not have that label, and a free must take its place.
 */
export const ENDS_HERE = 0x4000_0000
export const LABEL = 0x3fff_ffff

/**
 * Labels some rows by the keys of their blocks.
 * @param keys the keys of the blocks of the rows from 0 on
 * @param labels of all events of the batch; row r has `labels[from + r]` @param from the event of row 0
 * @param to one past the last event
 */
export type LabelByKey = (keys: BlockKeys, labels: Uint32Array, from: number, to: number) => void

/**
 * Follows blocks from their allocation to their end, so that all events of a block can share a label. Later events say
 * little about it: frees carry no size and no site.
 *
 * Which block an event is about is decided by `LiveSet`. A realloc continues with the old block, wherever it moved; one
 * that failed leaves it where it was. Blocks that begin with label 0 give their later events no label. Traces do not
 * share blocks: a new header forgets all of them.
 *
 * HATF records the malloc and the free inside a realloc before the realloc itself. So a realloc of such a trace also
 * continues with one of two labelled blocks: the one that was freed last, if that was at the old address of the
 * realloc, or the one that was allocated last, if that is at the new address.
 *
 * With `keepsWhole`, a block only keeps events that come after it got a label. Frees and reallocs lose their own label
 * if their block has none, or if they are of NULL and begin no block. A realloc whose own label is the first of its
 * block gets `BEGINS_HERE` with it. The end of a process that ends blocks with labels gets the label of one of them.
 *
 * With `further`, the end of a process that ends blocks with labels has all of these labels: the least one is its own,
 * and the others are in `further`.
 *
 * With either option, a block with a label also ends when a block without that label begins at its address. The ended
 * block's label, with `ENDS_HERE`, becomes the event's if the event has none; otherwise it is in `further`.
 *
 * Memory grows with the number of live blocks that have a label, or come from a realloc or a kernel's function: 35 to
 * 140 bytes for each block of the maximum.
 */
export class Lifetimes {
  /** The one word of each block is its label. */
  private readonly liveSet = new LiveSet(1)
  private header: TraceHeader | undefined
  private isHatf = false
  /** The key at which a labelled block was freed last, and its label; label 0 for none. */
  private freedLo = 0
  private freedHi = 0
  private freedLabel = 0
  /** The key at which a labelled block was allocated last; the null key for none. */
  private allocatedLo = 0
  private allocatedHi = 0

  /**
   * @param keepsWhole whether frees and reallocs of blocks without a label lose their own; labels are below 2^30
   * @param further is filled by each `follow` with the other labels of ends of processes and of blocks: an event of the
   *   batch and a label alternate, in the order of the events
   */
  constructor(
    private readonly keepsWhole = false,
    private readonly further?: number[],
  ) {}

  /** The number of followed blocks: the live ones with a label, and some others. */
  get size(): number {
    return this.liveSet.size
  }

  /** Ends the use of the lifetimes. */
  dispose(): void {
    this.liveSet.dispose()
  }

  /**
   * Gives the later events of labelled blocks the label of their allocation, in place.
   * @param labels each event's own label
   * @param labelByKey is called before some of the events are followed, to label those
   * @throws RangeError when there is no memory for the blocks
   * @throws SpacesError when blocks cannot be distinguished; the events before that one have their labels
   */
  follow(batch: EventBatch, labels: Uint32Array, labelByKey?: LabelByKey): void {
    if (batch.header !== this.header) this.begin(batch.header)
    const { liveSet, further } = this
    if (further !== undefined) further.length = 0
    let unclear: SpacesError | undefined
    for (let from = 0; from < batch.count && unclear === undefined; from += BATCH_EVENTS) {
      let to = Math.min(from + BATCH_EVENTS, batch.count)
      unclear = liveSet.readClear(batch, from, to)
      if (unclear !== undefined) to = unclear.row
      labelByKey?.(liveSet.keys, labels, from, to)
      this.passOver(batch, labels, from, to)
      liveSet.apply(to - from)
      this.share(batch, labels, from, to)
    }
    if (unclear !== undefined) throw unclear
  }

  private begin(header: TraceHeader): void {
    this.header = header
    this.isHatf = formatsOf(header).some((format) => format.startsWith('hatf'))
    this.liveSet.clear()
    this.freedLabel = this.allocatedLo = this.allocatedHi = 0
  }

  /**
   * Keeps allocations without a label out of the live set: they only end the block that was live in their place.
   * Allocations of a kernel stay in: where pages and an object have one address, a free must not confuse them. That a
   * kernel frees what a program allocated at the address of pages is not expected: no trace of a process has both.
   */
  private passOver({ kind }: EventBatch, labels: Uint32Array, from: number, to: number): void {
    const { intents } = this.liveSet.keys
    for (let i = from, row = 0; i < to; i++, row++) {
      if (labels[i] === 0 && (intents[row] & ~INDEXED) === BEGAN && kind[i] !== REALLOC)
        intents[row] = (intents[row] & INDEXED) | ENDED
    }
  }

  /** Passes labels on from block to event and from event to block, in the order of the events. */
  private share({ kind: kinds }: EventBatch, labels: Uint32Array, from: number, to: number): void {
    const { effects, ended, begun, gone, words, keys } = this.liveSet
    let left = 0
    const { intents, ends, begins } = keys
    const { keepsWhole, isHatf } = this
    let { freedLo, freedHi, freedLabel, allocatedLo, allocatedHi } = this
    for (let i = from, row = 0; i < to; i++, row++) {
      const effect = effects[row]
      const kind = kinds[i]
      if (effect === 0) {
        if (keepsWhole && kind === FREE) labels[i] = 0
        if (kind !== PROCESS_END) continue
        // The end of a process is the end of all of its blocks.
        const first = left
        for (; gone[left] === row; left += 2) if (keepsWhole && labels[i] === 0) labels[i] = words[gone[left + 1]]
        if (this.further !== undefined && left > first) this.spread(labels, i, first, left)
        continue
      }
      const block = ended[row]
      const isByAddress = intents[row] < INDEXED
      if (kind === FREE) {
        const label = block === 0 ? 0 : words[block]
        if (label === 0) {
          if (keepsWhole) labels[i] = 0
          continue
        }
        labels[i] = label
        if (!isByAddress) continue
        freedLo = ends[2 * row + LO]
        freedHi = ends[2 * row + HI]
        freedLabel = label
        continue
      }
      const next = begun[row]
      const lo = begins[2 * row + LO]
      const hi = begins[2 * row + HI]
      // A block that another one at its address ends without a free. For some events, `passOver` has left only this.
      const over =
        (effect & REUSED) !== 0 ? words[next] : kind !== REALLOC && next === 0 && block !== 0 ? words[block] : 0
      if (kind === REALLOC) {
        let label = block !== 0 ? words[block] : 0
        if (label === 0 && isHatf && isByAddress) {
          // Its malloc or its free may have been recorded just before it.
          if ((effect & REUSED) !== 0 && lo === allocatedLo && hi === allocatedHi) label = words[next]
          // A realloc by a kernel's function may end pages at the address where an object was freed.
          const isFreed = block === 0 && ends[2 * row + LO] === freedLo && ends[2 * row + HI] === freedHi
          if (label === 0 && isFreed) label = freedLabel
        }
        if (label !== 0) labels[i] = label
        else if (keepsWhole && labels[i] !== 0) {
          if (next === 0) labels[i] = 0
          else if ((intents[row] & ENDED) !== 0) labels[i] = labels[i] | BEGINS_HERE
        }
        if (next === 0) continue
      } else if (isByAddress && next !== 0 && labels[i] !== 0) {
        allocatedLo = lo
        allocatedHi = hi
      }
      if (next !== 0) words[next] = labels[i] & LABEL
      if (over !== 0 && (labels[i] & LABEL) !== over) this.endOverlapped(labels, i, over)
      // Now that a block begins there, the address no longer means the freed block.
      if (lo === freedLo && hi === freedHi && isByAddress) freedLabel = 0
    }
    this.freedLo = freedLo
    this.freedHi = freedHi
    this.freedLabel = freedLabel
    this.allocatedLo = allocatedLo
    this.allocatedHi = allocatedHi
  }

  /** Gives the event that ends a block without a free the label of that block. */
  private endOverlapped(labels: Uint32Array, event: number, label: number): void {
    if (this.further !== undefined) this.further.push(event, label | ENDS_HERE)
    else if (this.keepsWhole && labels[event] === 0) labels[event] = label | ENDS_HERE
  }

  /**
   * Gives the end of a process the labels of the blocks that it ends: the entries of `gone` from `first` to before
   * `end`.
   */
  private spread(labels: Uint32Array, event: number, first: number, end: number): void {
    const { gone, words } = this.liveSet
    const found = new Set<number>()
    for (let at = first; at < end; at += 2) if (words[gone[at + 1]] !== 0) found.add(words[gone[at + 1]])
    const [own, ...others] = [...found].toSorted((a, b) => a - b)
    if (own === undefined) return
    labels[event] = own
    for (const label of others) this.further?.push(event, label)
  }
}
