import type { AllocatorReplay } from '../../lib/allocators/index.js'
import { BATCH_EVENTS, EventBatch } from '../../lib/event/batch.js'
import { Api, fieldSet, Kind, Outcome } from '../../lib/event/fields.js'
import { NO_HEADER } from '../../lib/event/header.js'

const COLUMNS = fieldSet('api', 'thread', 'address', 'oldAddress', 'size', 'count', 'alignment', 'outcome')
const FREE_COLUMNS = fieldSet('thread', 'address')

/** Random numbers below a limit: xorshift, from a seed. */
export function xorshift(seed: number): (limit: number) => number {
  let state = (seed | 0) === 0 ? 1 : seed | 0
  return (limit) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
}

/** Replays events that a function writes into rows of batches. @returns the replay, and the seconds that it took */
export function replayRows(
  events: number,
  write: (batch: EventBatch, row: number, event: number) => void,
  replay: AllocatorReplay,
): { replay: AllocatorReplay; seconds: number } {
  const batch = new EventBatch(BATCH_EVENTS, COLUMNS, NO_HEADER)
  let milliseconds = 0
  for (let event = 0; event < events;) {
    batch.count = Math.min(BATCH_EVENTS, events - event)
    for (let row = 0; row < batch.count; row++) write(batch, row, event++)
    const before = performance.now()
    replay.add(batch)
    milliseconds += performance.now() - before
  }
  return { replay, seconds: milliseconds / 1000 }
}

/** Writes a malloc into a row. */
export function writeAlloc(batch: EventBatch, row: number, thread: number, address: bigint, size: bigint): void {
  batch.kind[row] = Kind.alloc
  batch.mask[row] = COLUMNS & ~fieldSet('oldAddress', 'outcome', 'count', 'alignment')
  batch.api[row] = Api.malloc
  batch.thread.values[row] = BigInt(thread)
  batch.address.values[row] = address
  batch.size.values[row] = size
}

/** Writes a free into a row. */
export function writeFree(batch: EventBatch, row: number, thread: number, address: bigint): void {
  batch.kind[row] = Kind.free
  batch.mask[row] = FREE_COLUMNS
  batch.thread.values[row] = BigInt(thread)
  batch.address.values[row] = address
}

/** Which addresses, sizes and threads there are, in how many bits. */
export interface CallShape {
  addressBits: number
  granularity: number
  sizeBits: number
  threads: number
}

/** A function that writes any event with any values of a shape. */
export function anyCall(shape: CallShape, rnd: (limit: number) => number) {
  const { addressBits, granularity, sizeBits, threads } = shape
  const bits = (n: number) => BigInt.asUintN(n, (BigInt(rnd(2 ** 31)) << 31n) | BigInt(rnd(2 ** 31)))
  const address = () =>
    (bits(Math.max(1, addressBits - granularity)) << BigInt(granularity)) | (rnd(2) === 0 ? 0n : 16n)
  return (batch: EventBatch, row: number): void => {
    const kind = rnd(20)
    batch.kind[row] = kind < 9 ? Kind.alloc : kind < 15 ? Kind.free : kind < 19 ? Kind.realloc : Kind['thread-destroy']
    batch.mask[row] = kind < 19 ? COLUMNS & ~(rnd(4) === 0 ? fieldSet('outcome') : 0) : FREE_COLUMNS
    batch.api[row] = rnd(6)
    batch.thread.values[row] = BigInt(rnd(threads))
    batch.address.values[row] = address()
    batch.oldAddress.values[row] = address()
    batch.size.values[row] = bits(1 + rnd(sizeBits))
    batch.elements.values[row] = BigInt(rnd(40))
    batch.alignment.values[row] = bits(1 + rnd(40))
    batch.outcome[row] = [Outcome.none, Outcome.moved, Outcome.allocated, Outcome.freed][rnd(4)] as number
  }
}
