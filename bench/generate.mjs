// Generates the MTRC traces for the benchmarks: `node bench/generate.mjs EVENTS FILE`. The same number of events always
// gives the same bytes, and a shorter trace is a prefix of a longer one, except for its end. Needs `npm run build`
// before.
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import * as mtrc from '../dist/lib/entry/mtrc.js'
import { EventBatch } from '../dist/lib/entry/index.js'
import { BATCH_EVENTS, FieldBit, HI, Kind, LO } from '../dist/lib/entry/stages.js'

/** The number of threads, with ids from 1. Each has the same share of the allocations. */
export const THREADS = 8
/** The number of live blocks in the steady state. */
const LIVE = 4000
const FUNCTIONS = 48
const FILES = 12
/** Blocks are in a heap of 1 GiB at an address that is usual on Linux, aligned to 16 bytes. */
const HEAP = { hi: 0x55d4, lo: 0x1000_0000, bytes: 0x4000_0000 }

const FREE = FieldBit.index
const BLOCK =
  FieldBit.index |
  FieldBit.address |
  FieldBit.size |
  FieldBit.thread |
  FieldBit.function |
  FieldBit.file |
  FieldBit.line

/** @typedef {{ random: () => number, live: Uint32Array, count: number, index: number, top: number }} Heap */

/**
 * Writes a trace of allocations (about half of the events), frees and a few reallocs.
 * @param {string} path
 * @param {number} events
 */
export async function generate(path, events) {
  const encoder = new mtrc.MtrcEncoder()
  const file = createWriteStream(path)
  const drain = async () => {
    for (let bytes = encoder.next(); bytes !== null; bytes = encoder.next())
      if (!file.write(bytes)) await once(file, 'drain')
  }
  const header = { format: 'mtrc' }
  /** @type {Heap} */
  const heap = { random: mulberry32(20_241), live: new Uint32Array(LIVE), count: 0, index: 1, top: 0 }
  for (let made = 0; made < events; made += BATCH_EVENTS) {
    encoder.feed(makeBatch(header, heap, Math.min(BATCH_EVENTS, events - made)))
    await drain()
  }
  encoder.end()
  await drain()
  file.end()
  await finished(file)
}

/**
 * The next events of the trace.
 * @param {import('../dist/lib/entry/index.js').TraceHeader} header
 * @param {Heap} heap
 * @param {number} events
 */
function makeBatch(header, heap, events) {
  const batch = new EventBatch(events, BLOCK, header)
  const functions = Array.from({ length: FUNCTIONS }, (_, i) =>
    batch.strings.internText(`module_${i % 7}::function_${i}`),
  )
  const files = Array.from({ length: FILES }, (_, i) => batch.strings.internText(`source/module_${i % 7}/file_${i}.c`))
  const { random, live } = heap
  for (let i = 0; i < events; i++) {
    const choice = random()
    const victim = Math.floor(random() * heap.count)
    // At the intended number of live blocks, allocations and frees are balanced.
    const kind =
      heap.count === 0 || (heap.count < LIVE && choice < 0.5) ? Kind.alloc : choice < 0.96 ? Kind.free : Kind.realloc
    batch.kind[i] = kind
    batch.index.words[2 * i + LO] = kind === Kind.alloc ? heap.index : live[victim]
    batch.index.words[2 * i + HI] = 0
    if (kind === Kind.alloc) {
      live[heap.count++] = heap.index++
    } else if (kind === Kind.free) {
      live[victim] = live[--heap.count]
      batch.mask[i] = FREE
      continue
    }
    // Mostly small blocks; one in some hundred has many pages.
    const size = Math.ceil(8 * 2 ** (random() ** 2 * 14))
    const place = Math.floor(random() ** 2 * FUNCTIONS)
    batch.mask[i] = BLOCK
    batch.address.words[2 * i + LO] = HEAP.lo + heap.top
    batch.address.words[2 * i + HI] = HEAP.hi
    batch.size.words[2 * i + LO] = size
    batch.thread.words[2 * i + LO] = 1 + Math.floor(random() * THREADS)
    batch.function[i] = functions[place]
    batch.file[i] = files[place % FILES]
    batch.line[i] = 10 + place * 13
    heap.top = ((heap.top + ((size + 31) & ~15)) % HEAP.bytes) & ~15
  }
  batch.count = events
  return batch
}

/** A small seeded generator of random numbers from 0 to 1. */
function mulberry32(seed) {
  return () => {
    seed = (seed + 0x6d2b_79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

if (process.argv[1] === import.meta.filename) {
  const [events, path] = process.argv.slice(2)
  if (!/^[1-9]\d*$/.test(events ?? '') || path === undefined) {
    console.error('usage: node bench/generate.mjs EVENTS FILE')
    process.exitCode = 2
  } else {
    await generate(path, Number(events))
  }
}
