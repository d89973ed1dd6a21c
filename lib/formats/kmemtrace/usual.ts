import { LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { Has, Kind } from '../../event/fields.js'
import {
  ALLOC_APIS, allocSize, callSiteAt, coreSize, EventId, FREE_APIS, NO_TYPE, TYPE_OF_ALLOC, TYPE_OF_FREE, TYPES, type KmemtraceLayout,
} from './layout.js'

const HAS_API = Has.api
const HAS_ADDRESS = Has.address
const HAS_SIZE = Has.size
const HAS_USABLE = Has.usable
const HAS_CALL_SITE = Has.callSite
const HAS_GFP_FLAGS = Has.gfpFlags
const HAS_NODE = Has.node
const HAS_SEQUENCE = Has.sequence
const HAS_CPU = Has.cpu
const HAS_TIME = Has.time
const KIND_ALLOC = Kind.alloc
const KIND_FREE = Kind.free
const { alloc: ALLOC, free: FREE } = EventId

/** An event is usual if it has all of the first fields (a free needs no size) and none of the last. */
const USUAL_FREE = HAS_ADDRESS
const USUAL_ALLOC = HAS_ADDRESS | HAS_SIZE
const UNUSUAL = Has.code | Has.attributes | Has.oldAddress
/** A mask of all bits. */
const ALL = -1

/**
 * Nearly all records are allocations and frees of known types, without features. Where their words lie in memory as this machine has them, they are read
 * and written as words, several times as fast as by a `DataView`. What is not usual is left to `RecordReader`, `Lowering` and `RecordWriter`.
 */
export class UsualRecords {
  /** One behind the last row that was done with. */
  row = 0
  /** The number that `write` wrote last. */
  sequence = 0
  private readonly timed: boolean
  /** In words: where the call site stands, and how long the records are. */
  private readonly callSiteAt: number
  private readonly core: number
  private readonly alloc: number
  /** The first word of each, but for the type. */
  private readonly allocHead: number
  private readonly freeHead: number

  private constructor(layout: KmemtraceLayout) {
    this.timed = layout.layout === 'ftrace'
    this.callSiteAt = callSiteAt(layout) / 4
    this.core = coreSize(layout) / 4
    this.alloc = allocSize(layout) / 4
    this.allocHead = ALLOC | (allocSize(layout) << 16)
    this.freeHead = FREE | (coreSize(layout) << 16)
  }

  /** For records with the words of this machine, or undefined. */
  static of(layout: KmemtraceLayout): UsualRecords | undefined {
    return LO === 0 && layout.byteOrder === 'little' && layout.wordSize === 8 ? new UsualRecords(layout) : undefined
  }

  /**
   * Reads records to the rows of a batch from `row` on, to one that is not usual or where they or the rows end.
   * @param words the input
   * @param w the first record, as an index into them
   * @param end one past the last word that is there
   * @param rows how many rows there are
   * @param allocFields the fields of an allocation, and those of a free
   * @returns the first word that was not read; `this.row` is the first row that was not filled
   */
  read(batch: EventBatch, words: Int32Array, w: number, end: number, row: number, rows: number, allocFields: number, freeFields: number): number {
    const { timed, callSiteAt, core, alloc, allocHead, freeHead } = this
    const { kind, mask, api, gfpFlags, node } = batch
    const number = timed ? batch.cpu : batch.sequence
    const callSite = batch.callSite.words
    const address = batch.address.words
    const size = batch.size.words
    const usable = batch.usable.words
    // Where the time stands in some records, others have the call site: to write that twice costs less than to ask which it is.
    const time = timed ? batch.time.words : callSite
    let i = row
    for (; i < rows && end - w >= core; i++) {
      const first = words[w] as number
      const type = (first >>> 8) & 0xff
      const head = first & ~0xff00
      if (type >= TYPES) break
      const lo = i << 1
      const hi = lo + 1
      let at = w + callSiteAt
      number[i] = words[w + 1] as number
      time[lo] = words[w + 2] as number
      time[hi] = words[w + 3] as number
      callSite[lo] = words[at] as number
      callSite[hi] = words[at + 1] as number
      address[lo] = words[at + 2] as number
      address[hi] = words[at + 3] as number
      if (head === allocHead) {
        if (end - w < alloc) break
        at = w + core
        size[lo] = words[at] as number
        size[hi] = words[at + 1] as number
        usable[lo] = words[at + 2] as number
        usable[hi] = words[at + 3] as number
        gfpFlags[i] = words[at + 4] as number
        node[i] = words[at + 5] as number
        kind[i] = KIND_ALLOC
        api[i] = ALLOC_APIS[type] as number
        mask[i] = allocFields
        w += alloc
      } else if (head === freeHead) {
        kind[i] = KIND_FREE
        api[i] = FREE_APIS[type] as number
        mask[i] = freeFields
        w += core
      } else {
        break
      }
    }
    this.row = i
    return w
  }

  /**
   * Writes the records of events from `row` on, to one that is not usual or where the rows or the room end.
   * @param rows how many rows there are
   * @param words the output
   * @param w where the first record goes, as an index into them
   * @param end no record begins here or behind it
   * @param sequence what was written last as a record's number
   * @param cpu what records of events without a CPU say
   * @param none zeros, as many as there are words in a column
   * @returns the first word that was not written; `this.row` is the first row that was not
   */
  write(
    batch: EventBatch, row: number, rows: number, words: Int32Array, w: number, end: number, sequence: number, cpu: number, none: Uint32Array,
  ): number {
    const { timed, callSiteAt, core, alloc, allocHead, freeHead } = this
    const { columns, kind, mask, api } = batch
    // Masking what is absent is twice as fast as asking for each word; so every column must have something to mask.
    const callSite = (columns & HAS_CALL_SITE) !== 0 ? batch.callSite.words : none
    const address = (columns & HAS_ADDRESS) !== 0 ? batch.address.words : none
    const size = (columns & HAS_SIZE) !== 0 ? batch.size.words : none
    const usable = (columns & HAS_USABLE) !== 0 ? batch.usable.words : none
    const gfpFlags = (columns & HAS_GFP_FLAGS) !== 0 ? batch.gfpFlags : none
    const node = (columns & HAS_NODE) !== 0 ? batch.node : none
    const time = timed && (columns & HAS_TIME) !== 0 ? batch.time.words : none
    const numbers = timed ? batch.cpu : batch.sequence
    const numbered = timed ? HAS_CPU : HAS_SEQUENCE
    let last = sequence
    let i = row
    for (; i < rows && w < end; i++) {
      const fields = mask[i] as number
      const frees = kind[i] === KIND_FREE
      const usual = frees ? USUAL_FREE : USUAL_ALLOC
      if ((!frees && kind[i] !== KIND_ALLOC) || (fields & (usual | UNUSUAL)) !== usual) break
      const type = (fields & HAS_API) === 0 ? 0 : ((frees ? TYPE_OF_FREE : TYPE_OF_ALLOC)[api[i] as number] as number)
      if (type === NO_TYPE) break
      const lo = i << 1
      const hi = lo + 1
      last = (fields & numbered) !== 0 ? (numbers[i] as number) : timed ? cpu : (last + 1) | 0
      words[w + 1] = last
      // The call site of a record without a time is written over this.
      const told = (fields & HAS_TIME) !== 0 ? ALL : 0
      words[w + 2] = (time[lo] as number) & told
      words[w + 3] = (time[hi] as number) & told
      const known = (fields & HAS_CALL_SITE) !== 0 ? ALL : 0
      let at = w + callSiteAt
      words[at] = (callSite[lo] as number) & known
      words[at + 1] = (callSite[hi] as number) & known
      words[at + 2] = address[lo] as number
      words[at + 3] = address[hi] as number
      if (frees) {
        words[w] = freeHead | (type << 8)
        w += core
      } else {
        const measured = (fields & HAS_USABLE) !== 0 ? ALL : 0
        const sizeLo = size[lo] as number
        const sizeHi = size[hi] as number
        at = w + core
        words[at] = sizeLo
        words[at + 1] = sizeHi
        // Where nothing says how much was really allocated, it is as much as was asked for.
        words[at + 2] = ((usable[lo] as number) & measured) | (sizeLo & ~measured)
        words[at + 3] = ((usable[hi] as number) & measured) | (sizeHi & ~measured)
        words[at + 4] = (gfpFlags[i] as number) & ((fields & HAS_GFP_FLAGS) !== 0 ? ALL : 0)
        // All bits set is -1: on the node of the CPU that allocates.
        words[at + 5] = (node[i] as number) | ((fields & HAS_NODE) !== 0 ? 0 : ALL)
        words[w] = allocHead | (type << 8)
        w += alloc
      }
    }
    this.row = i
    this.sequence = last
    return w
  }
}
