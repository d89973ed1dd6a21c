// A checksum of all data of the events in some batches, as main.c computes it from its columns. It does not depend on
// the division into batches.
import { FIELDS, HI, LO } from '../../dist/lib/entry/stages.js'

/** How a column is read, by the type of its field. */
const READERS = {
  u64: (column, i, sum) => mix(mix(sum, column.words[2 * i + LO]), column.words[2 * i + HI]),
  string: (column, i, sum, strings) => strings.view(column[i]).reduce(mix, sum),
}
const SOURCES = FIELDS.map(({ name, type }) => ({
  column: name === 'count' ? 'elements' : name,
  read: { address: READERS.u64, u64: READERS.u64, string: READERS.string, bytes: READERS.string, json: READERS.string }[type] ??
    ((column, i, sum) => mix(sum, column[i])),
}))

/** @param {Iterable<import('../../dist/lib/entry/index.js').EventBatch>} batches */
export function checksumOf(batches) {
  let sum = 0
  for (const batch of batches) {
    for (let i = 0; i < batch.count; i++) {
      sum = mix(mix(sum, batch.kind[i]), batch.mask[i])
      for (let rest = batch.mask[i]; rest !== 0; rest &= rest - 1) {
        const { column, read } = SOURCES[31 - Math.clz32(rest & -rest)]
        sum = read(batch[column], i, sum, batch.strings)
      }
    }
  }
  return sum >>> 0
}

function mix(sum, word) {
  const product = Math.imul(sum ^ word, 0x9e37_79b1)
  return product ^ (product >>> 15)
}
