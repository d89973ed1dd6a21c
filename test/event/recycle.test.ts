import { describe, expect, it } from 'vitest'
import { chunkOf, cutChunk, newChunk } from '../../lib/bytes/chunks.js'
import { batchesOf, EventBatch, reviseBatch } from '../../lib/event/batch.js'
import { selectRows } from '../../lib/kernel/select.js'
import { fieldSet } from '../../lib/event/fields.js'
import { recycle } from '../../lib/event/recycle.js'

const HEADER = { format: 'test' }
const FIELDS = fieldSet('address', 'size', 'thread', 'line', 'api')

function filled(count: number, value: number): EventBatch {
  const batch = EventBatch.unfilled(count, FIELDS, HEADER)
  batch.mask.fill(FIELDS)
  batch.kind.fill(0)
  for (const { words } of [batch.address, batch.size, batch.thread]) words.fill(value)
  batch.line.fill(value)
  batch.api.fill(1)
  batch.count = count
  return batch
}

describe('a recycled batch', () => {
  it('is empty, and its memory goes to the next batch of that size and those columns', () => {
    const batch = filled(1000, 7)
    const { buffer } = batch.mask
    recycle(batch)
    expect([batch.count, batch.columns, batch.mask.length, batch.address.words.length, [...batch]]).toEqual([
      0,
      0,
      0,
      0,
      [],
    ])
    expect(EventBatch.unfilled(1000, FIELDS & ~fieldSet('line'), HEADER).mask.buffer).not.toBe(buffer)
    expect(EventBatch.unfilled(10, FIELDS, HEADER).mask.buffer).not.toBe(buffer)
    expect(EventBatch.unfilled(990, FIELDS, HEADER).mask.buffer).toBe(buffer)
    expect(EventBatch.unfilled(990, FIELDS, HEADER).mask.buffer).not.toBe(buffer)
  })

  it('gives nothing away twice', () => {
    const batch = filled(1000, 7)
    recycle(batch)
    recycle(batch)
    const [first, second] = [filled(1000, 1), filled(1000, 2)]
    expect(first.mask.buffer).not.toBe(second.mask.buffer)
    expect(first.line[999]).toBe(1)
  })

  it('keeps columns that a revised batch shares', () => {
    const batch = filled(1000, 7)
    const revised = reviseBatch(batch, fieldSet('size'))
    recycle(batch)
    filled(1000, 9)
    expect(revised.address.words[0]).toBe(7)
    expect(batch.count).toBe(1000)
  })

  it('leaves selected rows as they were', () => {
    const batch = filled(1000, 7)
    const rows = selectRows(batch, Int32Array.of(1, 5), 2)
    recycle(batch)
    filled(1000, 9)
    expect([...rows.line.subarray(0, 2)]).toEqual([7, 7])
  })

  it('takes no events', () => {
    const batch = filled(1000, 7)
    recycle(batch)
    expect(() => batch.push({ kind: 'free' })).toThrow(RangeError)
  })

  it('may have been filled by hand', () => {
    const [batch] = batchesOf([{ kind: 'alloc', address: 1n, size: 2n }], HEADER)
    recycle(batch as EventBatch)
    expect((batch as EventBatch).count).toBe(0)
  })
})

describe('a recycled chunk', () => {
  it('gives its memory to the next one of about that length, once', () => {
    const chunk = chunkOf(new Uint8Array(100_000).fill(3))
    recycle(chunk)
    recycle(chunk)
    expect(newChunk(20_000).buffer).not.toBe(chunk.buffer)
    expect(newChunk(99_000).buffer).toBe(chunk.buffer)
    expect(newChunk(99_000).buffer).not.toBe(chunk.buffer)
  })

  it('is all of it, and not a part that another program cut off', () => {
    const chunk = chunkOf(new Uint8Array(50_000).fill(3))
    for (const part of [chunk.subarray(0, 1000), chunk.subarray(1000), Buffer.from(chunk.buffer, 0, 49_999)])
      recycle(part)
    expect(newChunk(50_000).buffer).not.toBe(chunk.buffer)
    recycle(Buffer.from(chunk.buffer, 0, 50_000))
    expect(newChunk(50_000).buffer).toBe(chunk.buffer)
  })

  it('may be shorter than it was when it was made', () => {
    const chunk = cutChunk(newChunk(50_000), 30_000)
    recycle(chunk.subarray(0, 20_000))
    expect(newChunk(40_000).buffer).not.toBe(chunk.buffer)
    recycle(chunk)
    expect(newChunk(40_000).buffer).toBe(chunk.buffer)
  })

  it('is only memory that chunks were made in', () => {
    const foreign = new Uint8Array(100_000)
    recycle(foreign)
    recycle(Buffer.from('a text in a pool that many share'))
    expect(newChunk(100_000).buffer).not.toBe(foreign.buffer)
  })
})
