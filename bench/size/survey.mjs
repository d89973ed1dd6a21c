// The first pass over a trace: what its Table 3 says, how many data records it has, and how wide their fields must be.
import { HI, openTrace, StatisticsCollector } from '../../dist/lib/index.js'
import { Tag } from '../../dist/lib/formats/hatf/layout.js'
import { dataEvents, RecordMaker } from './records.mjs'

/**
 * @typedef {object} Widths bytes of the fields of records that all have the same length
 * @property {4 | 8} size
 * @property {4 | 8} address
 */

/**
 * @typedef {object} Survey
 * @property {number} events all events of the trace
 * @property {number} threads how many threads there are, 0 where events have none
 * @property {{ allocs: number, reallocs: number, frees: number, bytes: number, maxObjects: number, maxBytes: number }} summary the row
 *   of Table 3: a realloc is one allocation and one free as well
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
  for await (const batch of openTrace(path).batches) {
    collector.add(batch)
    const { count, tag, size, address, oldAddress } = maker.of(dataEvents(batch))
    records.all += count
    for (let r = 0; r < count; r++) {
      records[tag[r] === Tag.alloc ? 'allocs' : tag[r] === Tag.free ? 'frees' : 'reallocs']++
      wideSizes |= highWord(size, r)
      wideAddresses |= highWord(address, r) | highWord(oldAddress, r)
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
    widths: { size: wideSizes === 0 ? 4 : 8, address: wideAddresses === 0 ? 4 : 8 },
  }
}

function highWord(words, r) {
  return words[2 * r + HI]
}
