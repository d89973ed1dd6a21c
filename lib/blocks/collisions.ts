import { BATCH_EVENTS, type EventBatch } from '../event/batch.js'
import { Api, FieldBit, Kind } from '../event/fields.js'
import { namesProcess, type TraceHeader } from '../event/header.js'
import { loadKernel } from '../kernel/load.js'
import type { ListedLiveExports, LiveExports } from '../kernel/live.js'
import { AddressSpaces, type SpacesError } from './address-spaces.js'
import { BlockEffect } from './block-effect.js'
import { BlockKeys } from './block-keys.js'
import { LiveSet } from './live-set.js'

const { process: HAS_PROCESS, api: HAS_API } = FieldBit
const KMALLOC = Api.kmalloc
const { existing: LAST_OF_BLOCKS, 'process-end': PROCESS_END } = Kind
/** The fields that a reader of the format must see unchanged. */
const SEEN = BlockEffect.began | BlockEffect.ended | BlockEffect.unknown | BlockEffect.reused
/** Events that are about no block. */
const NO_BLOCK = BlockEffect.nothing | BlockEffect.failed

/**
 * Finds the first event of a trace that would be about another block in a format that cannot represent processes, or
 * the functions of a kernel: blocks of several address spaces can have the same address.
 *
 * It follows the blocks twice, in the trace and in the format, from the first event that has a process or comes from a
 * kernel. Until then it follows the first process of a recording, which has no number, once. Other traces cost almost
 * nothing. Memory grows with the number of live blocks that are followed: 60 to 120 bytes for each.
 */
export class Collisions {
  /**
   * The reason why the event that was found last cannot be distinguished from one about another block, unless addresses
   * collide.
   */
  unclear: SpacesError | undefined
  private asTheyAre: LiveSet<ListedLiveExports> | undefined
  private asWritten: LiveSet | undefined
  private header: TraceHeader | undefined
  private isFollowing = false
  /** Whether there were blocks before the first event that was followed. */
  private isLate = false
  /** Whether events without a process belong to one that the header names, so that the first ones are followed, too. */
  private isFirstKnown = false
  /** The address space of the first process. */
  private firstSpace: number | undefined

  /** @param told the set of the fields `process` and `api` by which the format separates address spaces */
  constructor(private readonly told: number) {}

  /** The first event of the next batch that collides, or may do so; the number of events if none does. */
  find(batch: EventBatch): number {
    const { count } = batch
    if (batch.header !== this.header) this.begin(batch.header)
    let start = 0
    if (!this.isFollowing) {
      // Events before it are not followed even in the same batch: the result must not depend on where batches end.
      start = this.firstOfSpace(batch)
      if (this.isFirstKnown) this.followFirst(batch, start)
      else this.isLate ||= batch.kind.subarray(0, start).some((kind) => kind <= LAST_OF_BLOCKS)
      if (start === count) return count
      this.isFollowing = true
      if (this.isFirstKnown) this.before.addTo(this.after)
    }
    for (let from = start; from < count; from += BATCH_EVENTS) {
      const to = Math.min(from + BATCH_EVENTS, count)
      const row = this.findRow(batch, from, to)
      if (from + row < to || this.unclear !== undefined) return from + row
    }
    return count
  }

  dispose(): void {
    this.asTheyAre?.dispose()
    this.asWritten?.dispose()
  }

  private begin(header: TraceHeader): void {
    this.header = header
    this.isFollowing = this.isLate = false
    this.isFirstKnown = namesProcess(header) && (this.told & HAS_PROCESS) === 0
    this.firstSpace = undefined
    this.asTheyAre?.clear()
    this.asWritten?.clear()
  }

  /**
   * The first event of a process or a kernel that the format cannot distinguish; the number of events if there is none.
   */
  private firstOfSpace({ columns, mask, api, kind, count: all }: EventBatch): number {
    // The first process may end, and another one may reuse its addresses.
    const end = this.isFirstKnown ? kind.subarray(0, all).indexOf(PROCESS_END) : -1
    const count = end < 0 ? all : end
    const lost = columns & ~this.told & (HAS_PROCESS | HAS_API)
    if (lost === 0) return count
    for (let i = 0; i < count; i++) {
      const fields = mask[i] & lost
      if ((fields & HAS_PROCESS) !== 0 || ((fields & HAS_API) !== 0 && api[i] >= KMALLOC)) return i
    }
    return count
  }

  private findRow(batch: EventBatch, from: number, to: number): number {
    const { before, after } = this
    const unclear = before.followClear(batch, from, to)
    const rows = (unclear?.row ?? to) - from
    after.follow(batch, from, from + rows)
    const { spaces } = before.keys
    for (let row = 0; row < rows; row++) {
      const effect = before.effects[row]
      if (((effect ^ after.effects[row]) & SEEN) !== 0) return row
      const space = spaces[row]
      // Formats that cannot distinguish processes have no ends of processes.
      if (batch.kind[from + row] === PROCESS_END) continue
      if (!this.isLate || space === after.keys.spaces[row] || (effect & NO_BLOCK) !== 0) continue
      // It may be about a block that was not followed. Such blocks are assumed to belong to the first process, as in
      // heapmon.
      if (space >= 0) this.firstSpace ??= space
      if (space !== this.firstSpace) return row
    }
    this.unclear = unclear
    return rows
  }

  /** Follows the events before `end`, whose blocks are the same in the trace and in the format. */
  private followFirst(batch: EventBatch, end: number): void {
    for (let from = 0; from < end; from += BATCH_EVENTS)
      this.before.follow(batch, from, Math.min(from + BATCH_EVENTS, end))
  }

  private get before(): LiveSet<ListedLiveExports> {
    return (this.asTheyAre ??= new LiveSet(0, loadKernel<ListedLiveExports>('live')))
  }

  private get after(): LiveSet {
    const keys = () => new BlockKeys(new AddressSpaces(this.told))
    return (this.asWritten ??= new LiveSet(0, loadKernel<LiveExports>('live'), keys()))
  }
}
