// The data records that the study counts: the alloc, free and realloc records of HATF. An alloc or free inside a
// realloc has its own record. Frees of the null pointer are omitted, as in the paper's Table 3.
import * as Code from '../../dist/lib/kernel/layouts/hatf.js'
import { openTrace } from '../../dist/lib/entry/index.js'
import { fieldSet, FieldBit, HI, Kind, LO, Outcome, selectRows } from '../../dist/lib/entry/stages.js'
import { outcomeOf } from '../../dist/lib/blocks/realloc.js'

/** @typedef {import('../../dist/lib/entry/index.js').EventBatch} EventBatch */

const FIELDS = fieldSet('size', 'address', 'oldAddress', 'outcome')
const BLOCK_KINDS = [Kind.alloc, Kind.free, Kind.realloc, Kind.existing]

/**
 * The events with data records, with only their sizes, addresses and outcomes.
 * @param {EventBatch} batch
 * @param {boolean} [withThreads] keep thread ids too
 * @returns {EventBatch}
 */
export function dataEvents(batch, withThreads = false) {
  const { kind, mask, address, count } = batch
  const rows = new Int32Array(count)
  let n = 0
  for (let i = 0; i < count; i++) {
    if (!BLOCK_KINDS.includes(kind[i])) continue
    const isNull = (mask[i] & FieldBit.address) !== 0 && (address.words[2 * i + LO] | address.words[2 * i + HI]) === 0
    if (kind[i] === Kind.free && isNull) continue
    rows[n++] = i
  }
  return selectRows(batch, rows, n, withThreads ? FIELDS | FieldBit.thread : FIELDS)
}

/**
 * The data events of a file of any format, compressed or not.
 * @param {string} path
 * @param {boolean} [withThreads]
 * @param {number} [limit] stop at the batch with which there are so many
 */
export async function* dataBatches(path, withThreads = false, limit = Infinity) {
  let events = 0
  for await (const batch of openTrace(path).batches) {
    const data = dataEvents(batch, withThreads)
    if (data.count > 0) yield data
    events += data.count
    if (events >= limit) return
  }
}

/** The maximum number of records of an event: a realloc that moved, with its alloc and its free. */
const MAX_RECORDS = 3

/** Data records in columns; those of 64 bits are pairs of words. */
class Records {
  count = 0
  tag = new Uint8Array(0)
  size = new Uint32Array(0)
  /** The one address, or the new address of a realloc. */
  address = new Uint32Array(0)
  oldAddress = new Uint32Array(0)

  /** Removes all records, and makes room for n. */
  clear(n) {
    this.count = 0
    if (this.tag.length >= n) return
    this.tag = new Uint8Array(n)
    this.size = new Uint32Array(2 * n)
    this.address = new Uint32Array(2 * n)
    this.oldAddress = new Uint32Array(2 * n)
  }
}

/** The tag of a realloc's own record, by the outcome. */
const REALLOC_TAGS = []
REALLOC_TAGS[Outcome.none] = Code.TAG_REALLOC_NONE
REALLOC_TAGS[Outcome.moved] = Code.TAG_REALLOC_MOVED
REALLOC_TAGS[Outcome.allocated] = Code.TAG_REALLOC_ALLOCATED
REALLOC_TAGS[Outcome.freed] = Code.TAG_REALLOC_FREED

/** Converts data events to the same data records as HATF's encoder, in which missing fields are 0. */
export class RecordMaker {
  #records = new Records()

  /**
   * @param {EventBatch} batch
   * @returns {Records} to be used before the next call
   */
  of(batch) {
    const records = this.#records
    const { count, kind } = batch
    records.clear(MAX_RECORDS * count)
    for (let i = 0; i < count; i++) {
      if (kind[i] === Kind.free) add(records, Code.TAG_FREE, batch, i, FieldBit.address)
      else if (kind[i] === Kind.realloc) addRealloc(records, batch, i)
      else add(records, Code.TAG_ALLOC, batch, i, FieldBit.size | FieldBit.address)
    }
    return records
  }
}

function addRealloc(records, batch, i) {
  const outcome = (batch.mask[i] & FieldBit.outcome) === 0 ? outcomeOf(batch, i) : batch.outcome[i]
  if (outcome === Outcome.moved || outcome === Outcome.allocated)
    add(records, Code.TAG_ALLOC, batch, i, FieldBit.size | FieldBit.address)
  if (outcome === Outcome.moved || outcome === Outcome.freed) {
    add(records, Code.TAG_FREE, batch, i, 0)
    copy(records.address, records.count - 1, batch.oldAddress, i, (batch.mask[i] & FieldBit.oldAddress) !== 0)
  }
  add(records, REALLOC_TAGS[outcome], batch, i, FieldBit.size | FieldBit.address | FieldBit.oldAddress)
}

/** Adds a record with those of the fields that the event has. */
function add(records, tag, batch, i, fields) {
  const r = records.count++
  const given = batch.mask[i] & fields
  records.tag[r] = tag
  copy(records.size, r, batch.size, i, (given & FieldBit.size) !== 0)
  copy(records.address, r, batch.address, i, (given & FieldBit.address) !== 0)
  copy(records.oldAddress, r, batch.oldAddress, i, (given & FieldBit.oldAddress) !== 0)
}

function copy(to, r, column, i, present) {
  to[2 * r + LO] = present ? column.words[2 * i + LO] : 0
  to[2 * r + HI] = present ? column.words[2 * i + HI] : 0
}
