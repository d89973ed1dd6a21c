// What the study counts: data records, which are the alloc, free and realloc records that HATF has. An alloc or free made
// inside a realloc has a record of its own. Frees of the null pointer are left out, as they are in the paper's Table 3.
import { fieldSet, Has, hatf, Kind, LO, HI, Losses, openTrace, selectRows } from '../../dist/lib/index.js'
import { Lowering, MAX_RECORDS } from '../../dist/lib/formats/hatf/lower.js'
import { Records } from '../../dist/lib/formats/hatf/records.js'

/** @typedef {import('../../dist/lib/index.js').EventBatch} EventBatch */

const FIELDS = fieldSet('size', 'address', 'oldAddress', 'outcome')
const BLOCK_KINDS = [Kind.alloc, Kind.free, Kind.realloc, Kind.existing]

/**
 * The events that make data records, with nothing but their sizes, addresses and outcomes.
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
    const isNull = (mask[i] & Has.address) !== 0 && (address.words[2 * i + LO] | address.words[2 * i + HI]) === 0
    if (kind[i] === Kind.free && isNull) continue
    rows[n++] = i
  }
  return selectRows(batch, rows, n, withThreads ? FIELDS | Has.thread : FIELDS)
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

/** Makes data events into data records, the very ones that HATF's encoder writes. */
export class RecordMaker {
  #lowering = new Lowering(new Losses('hatf', hatf.format.carried), false)
  #records = new Records()

  /**
   * @param {EventBatch} batch
   * @returns {Records} to be used before the next call
   */
  of(batch) {
    const records = this.#records
    records.clear()
    records.reserve(MAX_RECORDS * batch.count)
    this.#lowering.lower(batch, 0, batch.count, records, Infinity)
    return records
  }
}
