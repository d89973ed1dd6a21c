// The first pass over a trace: the figures for Table 3, the number of data records, and the necessary widths of their
// fields.
import * as Code from '../../dist/lib/kernel/layouts/hatf.js'
import { openTrace } from '../../dist/lib/entry/index.js'
import { HI, LO, StatisticsCollector } from '../../dist/lib/entry/stages.js'
import { dataEvents, RecordMaker } from './records.mjs'

/** The range of an offset of 4 bytes, in either direction. */
const REACH = 2 ** 31

/**
 * @typedef {object} Widths bytes of the fields of records that all have the same length
 * @property {4 | 8} size
 * @property {4 | 8} address
 * @property {number} heap an address such that most others are within 2 GiB of it
 */

/**
 * @typedef {object} Survey
 * @property {number} events all events of the trace
 * @property {number} threads how many threads there are, 0 where events have none
 * @property {{ allocs: number, reallocs: number, frees: number, bytes: number, maxObjects: number, maxBytes: number }}
 * summary the row of Table 3: a realloc is one allocation and one free as well
 * @property {{ all: number, allocs: number, frees: number, reallocs: number }} records data records
 * @property {Widths} widths
 */

/**
 * @param {string} path
 * @returns {Promise<Survey>}
 */
export async function survey(path) {
  const collector = new StatisticsCollector()
  const maker = new RecordMaker()
  const records = { all: 0, allocs: 0, frees: 0, reallocs: 0 }
  let wideSizes = 0
  let wideAddresses = 0
  const regions = new Map()
  for await (const batch of openTrace(path).batches) {
    collector.add(batch)
    const { count, tag, size, address, oldAddress } = maker.of(dataEvents(batch))
    records.all += count
    for (let r = 0; r < count; r++) {
      records[tag[r] === Code.TAG_ALLOC ? 'allocs' : tag[r] === Code.TAG_FREE ? 'frees' : 'reallocs']++
      wideSizes |= highWord(size, r)
      wideAddresses |= highWord(address, r) | highWord(oldAddress, r)
      const region = highWord(address, r) * 2 + (address[2 * r + LO] >>> 31)
      regions.set(region, (regions.get(region) ?? 0) + 1)
    }
  }
  const { events, kinds, allocated, freed, peakBlocks, peakBytes, threads } = collector.finish()
  return {
    events,
    threads: threads.filter(({ thread }) => thread !== undefined).length,
    summary: {
      allocs: allocated.blocks,
      reallocs: kinds.realloc ?? 0,
      frees: freed.blocks,
      bytes: Number(allocated.bytes),
      maxObjects: peakBlocks.blocks,
      maxBytes: Number(peakBytes.bytes),
    },
    records,
    widths: {
      size: wideSizes === 0 ? 4 : 8,
      address: wideAddresses === 0 ? 4 : 8,
      heap: wideAddresses === 0 ? REACH : middleOf(regions),
    },
  }
}

/**
 * @param {ReadonlyMap<number, number>} regions how many addresses are in each 2 GiB, by the upper 33 bits
 * @returns {number} the middle of the most frequent one
 */
function middleOf(regions) {
  const [region] = [...regions].reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0])
  return region * REACH + REACH / 2
}

function highWord(words, r) {
  return words[2 * r + HI]
}
