// The ten largest allocations of a trace, from the columns of its batches: no object and no BigInt for each of the
// 282,277 events.
import { openTrace } from 'heapflow'
import { FieldBit, HI, Kind, LO } from 'heapflow/stages'

const KEPT = 10
const trace = openTrace(new URL('../test/fixtures/mtrc/git.mtrc.gz', import.meta.url))

/** The largest sizes so far, in descending order, with the number of the event and its address. */
const largest = []
let events = 0

for await (const batch of trace) note(batch)

/** Enters the allocations of a batch into the list. */
function note(batch) {
  const { count, kind, mask } = batch
  const { words } = batch.size
  for (let i = 0; i < count; i++) {
    if (kind[i] !== Kind.alloc || (mask[i] & FieldBit.size) === 0) continue
    // Exact as a double up to 8 PiB, which is enough for a list of ten.
    const size = words[2 * i + HI] * 2 ** 32 + words[2 * i + LO]
    if (largest.length === KEPT && size <= largest[KEPT - 1].size) continue
    // Only what makes the list becomes an object.
    largest.push({ size, number: events + i + 1, address: batch.address.values[i] })
    largest.sort((a, b) => b.size - a.size)
    largest.length = Math.min(largest.length, KEPT)
  }
  events += count
}

console.log(`of ${events} events, the largest allocations:`)
for (const { size, number, address } of largest) {
  console.log(`${String(size).padStart(9)} bytes at 0x${address.toString(16)}, event ${number}`)
}
