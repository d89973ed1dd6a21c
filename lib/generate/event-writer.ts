import { HI, LO, WORD } from '../bytes/u64.js'
import { widened } from '../bytes/widened.js'
import { BATCH_EVENTS, EventBatch } from '../event/batch.js'
import { Api, FieldBit, fieldSet, Kind } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'
import { StringTable } from '../event/strings.js'
import { Addresses } from './addresses.js'
import { NumberList } from './lists.js'

/** The code of an allocation whose function is not known. */
export const NO_API = 255

const { alloc: ALLOC, free: FREE, realloc: REALLOC } = Kind
const { api: HAS_API, function: HAS_SITE, time: HAS_TIME, alignment: HAS_ALIGNMENT } = FieldBit
const OF_ALLOC = fieldSet('thread', 'address', 'size')
const OF_FREE = fieldSet('thread', 'address')
const OF_REALLOC = fieldSet('thread', 'address', 'oldAddress', 'size')

/** The function that frees what another one allocated, by its code. */
const FREED_BY = new Uint8Array(256).fill(Api.free)
FREED_BY[Api.new] = Api.delete
FREED_BY[Api.kmalloc] = Api.kfree
FREED_BY[Api.kmem_cache_alloc] = Api.kmem_cache_free
FREED_BY[Api.pages] = Api.pages
FREED_BY[NO_API] = NO_API

/** The contents of the batches of a writer. */
export interface WriterOptions {
  /** The number of events after which no more are written. */
  readonly events: number
  /** The number of sites, of which each has a name: `site 1`. */
  readonly sites: number
  readonly isTimed: boolean
  /** Some blocks have an alignment. */
  readonly isAligned: boolean
}

/** Writes calls as batches of events, and gives each block an address. Blocks have numbers, which are reused. */
export class EventWriter {
  /** The time of the next event, in nanoseconds, and of the one after it, less that. */
  time = 0
  gap = 0
  /** How many events there may still be. */
  left: number
  /** Batches that are full, the oldest first. */
  private readonly full: EventBatch[] = []
  private readonly header: TraceHeader
  private readonly columns: number
  private readonly strings = new StringTable()
  private readonly always: number
  private readonly places = new Addresses()
  /** By block: its address, the list of its address, and its function. */
  private address = new Float64Array(64)
  private list = new Int32Array(64)
  private api = new Int32Array(64)
  private blocks = 0
  private readonly unused = new NumberList()
  private batch: EventBatch

  constructor({ events, sites, isTimed, isAligned }: WriterOptions) {
    this.left = events
    this.header = { format: 'generated', ...(isTimed && { timeUnit: 'ns' }) }
    this.always = isTimed ? HAS_TIME : 0
    this.columns =
      fieldSet('api', 'thread', 'address', 'oldAddress', 'size') |
      this.always |
      (sites > 0 ? HAS_SITE : 0) |
      (isAligned ? HAS_ALIGNMENT : 0)
    for (let site = 1; site <= sites; site++) this.strings.add(Buffer.from(`site ${site}`))
    this.batch = this.newBatch()
  }

  /** Whether no more events may be written. */
  get isDone(): boolean {
    return this.left === 0
  }

  /** The next full batch; null if there is none. */
  next(): EventBatch | null {
    return this.full.shift() ?? null
  }

  /** The last events, of which the batch is not full; null if there are none. */
  rest(): EventBatch | null {
    const { batch } = this
    if (batch.count === 0) return null
    this.batch = this.newBatch()
    return batch
  }

  /**
   * Allocates a block.
   * @param api a code of `Api`, or `NO_API`
   * @param site a number from 1; 0 for none
   * @param alignment of memalign, otherwise 0
   * @returns the number of the block
   */
  alloc(thread: number, api: number, size: number, site = 0, alignment = 0): number {
    const block = this.unused.pop() ?? this.blocks++
    if (block === this.address.length) this.grow()
    const address = this.place(block, api, size, alignment)
    if (this.left === 0) return block
    const { batch } = this
    const i = this.event(ALLOC, OF_ALLOC, thread, api, site)
    if (alignment > 0) {
      batch.mask[i] = batch.mask[i] | HAS_ALIGNMENT
      setWords(batch.alignment.words, i, alignment)
    }
    setWords(batch.address.words, i, address)
    setWords(batch.size.words, i, size)
    this.end()
    return block
  }

  free(thread: number, block: number): void {
    const address = this.address[block]
    this.places.give(address, this.list[block])
    this.unused.push(block)
    if (this.left === 0) return
    const i = this.event(FREE, OF_FREE, thread, FREED_BY[this.api[block]], 0)
    setWords(this.batch.address.words, i, address)
    this.end()
  }

  /** Changes the size of a block, which keeps its number. */
  realloc(thread: number, block: number, size: number, site = 0): void {
    const old = this.address[block]
    const oldList = this.list[block]
    const address = this.place(block, Api.realloc, size, 0)
    this.places.give(old, oldList)
    if (this.left === 0) return
    const i = this.event(REALLOC, OF_REALLOC, thread, Api.realloc, site)
    const { batch } = this
    setWords(batch.address.words, i, address)
    setWords(batch.oldAddress.words, i, old)
    setWords(batch.size.words, i, size)
    this.end()
  }

  private place(block: number, api: number, size: number, alignment: number): number {
    const address = this.places.take(size, alignment)
    this.address[block] = address
    this.list[block] = this.places.list
    this.api[block] = api
    return address
  }

  /** Begins an event. @returns its row */
  private event(kind: number, fields: number, thread: number, api: number, site: number): number {
    const { batch } = this
    const i = batch.count
    let mask = fields | this.always
    if (api !== NO_API) {
      mask |= HAS_API
      batch.api[i] = api
    }
    if (site > 0) {
      mask |= HAS_SITE
      batch.function[i] = site - 1
    }
    batch.kind[i] = kind
    batch.mask[i] = mask
    setWords(batch.thread.words, i, thread)
    if (this.always !== 0) setWords(batch.time.words, i, Math.floor(this.time))
    return i
  }

  private end(): void {
    this.time += this.gap
    this.left--
    if (++this.batch.count < BATCH_EVENTS) return
    this.full.push(this.batch)
    this.batch = this.newBatch()
  }

  private newBatch(): EventBatch {
    return EventBatch.unfilled(BATCH_EVENTS, this.columns, this.header, this.strings)
  }

  private grow(): void {
    const room = 2 * this.address.length
    this.address = widened(this.address, room)
    this.list = widened(this.list, room)
    this.api = widened(this.api, room)
  }
}

/** Stores a whole number below 2^53. */
function setWords(words: Uint32Array, i: number, value: number): void {
  words[2 * i + LO] = value >>> 0
  words[2 * i + HI] = Math.floor(value / WORD)
}

export interface CallSource {
  /** Writes some calls, a bounded number. @returns false when there are no more */
  step(writer: EventWriter): boolean
}
