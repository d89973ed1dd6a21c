// A custom transform: what would an allocator that rounds every size up to a power of two waste on this trace?
// It is a pure object with feed, next, end and cut; transformStream() makes a stream of it, compose() one stream of
// several.
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { compose, decompress, mtrc } from 'heapflow'
import { FieldBit, HI, LO, reviseBatch, transformStream } from 'heapflow/stages'

/** Gives every event that has a size the field `usable`: the size rounded up to a power of two, 16 at least. */
class PowersOfTwo {
  #batch = null

  feed(batch) {
    this.#batch = batch
  }

  next() {
    const batch = this.#batch
    this.#batch = null
    if (batch === null) return null
    // Batches are never changed once they were handed on: the new one has a column of its own and shares all others.
    const revised = reviseBatch(batch, FieldBit.usable)
    const size = batch.size.words
    const usable = revised.usable.words
    for (let i = 0; i < batch.count; i++) {
      revised.mask[i] &= ~FieldBit.usable
      if ((batch.mask[i] & FieldBit.size) === 0 || size[2 * i + HI] !== 0 || size[2 * i + LO] > 2 ** 31) continue
      usable[2 * i + LO] = 2 ** (32 - Math.clz32(Math.max(16, size[2 * i + LO]) - 1))
      revised.mask[i] |= FieldBit.usable
    }
    return revised
  }

  end() {}

  endTruncated() {}
}

const trace = new URL('../test/fixtures/mtrc/git.mtrc.gz', import.meta.url)
const rounded = compose(decompress(), mtrc.decode(), transformStream(new PowersOfTwo()))
const total = { events: 0, size: 0n, usable: 0n }
await pipeline(createReadStream(trace), rounded, async (batches) => {
  for await (const batch of batches) {
    for (const event of batch) {
      if (event.kind !== 'alloc' || event.usable === undefined) continue
      total.events++
      total.size += event.size
      total.usable += event.usable
    }
  }
})
const waste = Number(((total.usable - total.size) * 1000n) / total.usable) / 10
console.log(`${total.events} allocations of ${total.size} bytes would take ${total.usable}: ${waste} % of it wasted`)
