import { BATCH_EVENTS, EventBatch } from '../../lib/event/batch.js'
import { FieldBit, fieldSet, Kind } from '../../lib/event/fields.js'
import type { TraceHeader } from '../../lib/event/header.js'

/** The choices of each dimension, apart from the number of blocks. */
export const DIMENSIONS = {
  /** In which order blocks are freed. */
  deaths: ['birth', 'reverse', 'random', 'waves', 'site', 'some', 'never'],
  /** The number of threads; 0: events have no thread. */
  threads: [0, 1, 7, 400],
  /** Bytes from one block to the next. */
  gap: [8n, 64n, 4096n, 1n << 40n],
  sizes: ['zero', 'small', 'mixed', 'huge'],
  reallocs: ['none', 'grow', 'shrink', 'move', 'fail'],
  /** Whether each address held another block just before. */
  reused: [false, true],
  indexed: [false, true],
  timed: [false, true],
  processes: [0, 1, 3],
  sites: [0, 1, 1000],
  /** The frames of each site's stack; 0: a site is a call site. */
  frames: [0, 2, 60],
  /** How often the program runs: each run is a trace of its own in the stream. */
  traces: [1, 2],
} as const

type Dimensions = typeof DIMENSIONS
/** A shape of a program's heap. */
export type Shape = { readonly [Name in keyof Dimensions]: Dimensions[Name][number] } & { readonly blocks: number }

/** A generator of numbers below `n`, always the same for a seed. */
export function seeded(seed: number): (n: number) => number {
  let state = seed >>> 0
  return (n) => {
    state = (state + 0x6d2b_79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n)
  }
}

/** One shape for each number of blocks; choices follow from the seed. Each choice of a dimension comes equally often. */
export function shapesOf(numbers: readonly number[], seed: number): Shape[] {
  const random = seeded(seed)
  const columns = Object.entries(DIMENSIONS).map(([name, choices]) => {
    const column = numbers.map((_, i) => choices[i % choices.length])
    for (let i = column.length - 1; i > 0; i--) {
      const j = random(i + 1)
      ;[column[i], column[j]] = [column[j], column[i]]
    }
    return [name, column] as const
  })
  return numbers.map(
    (blocks, i) => ({ blocks, ...Object.fromEntries(columns.map(([name, column]) => [name, column[i]])) }) as Shape,
  )
}

const HEADER: TraceHeader = { format: 'ndjson', timeUnit: 'ns' }

/** The events of a shape, in full batches. */
export function* eventsOf(shape: Shape): Generator<EventBatch> {
  for (let trace = 0; trace < shape.traces; trace++) yield* traceOf(shape)
}

function* traceOf(shape: Shape): Generator<EventBatch> {
  const { blocks, threads, processes, sites, frames } = shape
  // Blocks of several processes are told apart below 2^48 only: see docs/statistics.md.
  const gap = processes > 0 && BigInt(2 * blocks) * shape.gap >= 1n << 47n ? 4096n : shape.gap
  const random = seeded(blocks)
  const header = { ...HEADER }
  let fields = fieldSet('address', 'oldAddress', 'size')
  if (threads > 0) fields |= FieldBit.thread
  if (processes > 0) fields |= FieldBit.process
  if (sites > 0) fields |= frames > 0 ? FieldBit.stack : FieldBit.callSite
  if (shape.indexed) fields |= FieldBit.index
  if (shape.timed) fields |= FieldBit.time
  let batch = new EventBatch(BATCH_EVENTS, fields, header)
  const full: EventBatch[] = []
  /** By site, the list of its stack in the current batch, from 1. */
  const lists = new Uint32Array(sites)
  const stackOf = (site: number): number => {
    if (lists[site] === 0) {
      const { strings } = batch
      const ids = [strings.internText(`site${site}`)]
      while (ids.length < frames) ids.push(strings.internText(`caller${(site % 7) * ids.length}`))
      lists[site] = strings.addList(ids) + 1
    }
    return (lists[site] as number) - 1
  }
  let events = 0
  const slots = new Float64Array(blocks).map((_, i) => i)
  let index = 0
  const indices = new Float64Array(blocks)

  const addressOf = (slot: number) => 0x1_0000n + BigInt(slot) * gap
  const sizeOf = (i: number): bigint => {
    if (shape.sizes === 'zero') return 0n
    if (shape.sizes === 'small') return BigInt(8 + (i % 9))
    if (shape.sizes === 'huge') return (1n << 47n) - BigInt(random(1000))
    return 1n << BigInt(random(24))
  }
  const put = (kind: number, mask: number, block: number, slot: number, size: bigint, thread: number) => {
    const at = batch.count++
    if (shape.indexed) batch.index.values[at] = BigInt(indices[block] as number)
    if (threads > 0) batch.thread.values[at] = BigInt(thread % threads) + 1n
    if (processes > 0) batch.process.values[at] = BigInt(block % processes) + 1n
    if (sites > 0 && frames > 0) batch.stack[at] = stackOf(block % sites)
    else if (sites > 0) batch.callSite.values[at] = BigInt(block % sites) * 16n + 1n
    if (shape.timed) batch.time.values[at] = BigInt(events * 3)
    batch.kind[at] = kind
    batch.mask[at] = mask | (fields & fieldSet('index', 'thread', 'process', 'callSite', 'stack', 'time'))
    batch.address.values[at] = addressOf(slot)
    batch.size.values[at] = size
    events++
    if (batch.count < BATCH_EVENTS) return
    full.push(batch)
    lists.fill(0)
    batch = new EventBatch(BATCH_EVENTS, fields, header)
  }
  const alloc = (i: number) => {
    indices[i] = ++index
    put(Kind.alloc, fieldSet('address', 'size'), i, slots[i] as number, sizeOf(i), i)
  }
  // Every third block is freed by another thread than its own.
  const free = (i: number) => put(Kind.free, FieldBit.address, i, slots[i] as number, 0n, i % 3 === 0 ? i + 1 : i)
  const resize = (i: number) => {
    const old = slots[i] as number
    const { reallocs } = shape
    if (reallocs === 'move') slots[i] = blocks + i
    const fails = reallocs === 'fail'
    const size = reallocs === 'grow' || fails ? (1n << 20n) + BigInt(i) : reallocs === 'shrink' ? 1n : sizeOf(i)
    const at = batch.count
    batch.oldAddress.values[at] = addressOf(old)
    put(Kind.realloc, fieldSet('oldAddress', 'size') | (fails ? 0 : FieldBit.address), i, slots[i] as number, size, i)
  }
  const born = (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      alloc(i)
      if (shape.reused) {
        free(i)
        alloc(i)
      }
      if (shape.reallocs !== 'none' && i % 5 === 0) resize(i)
    }
  }

  const waves = shape.deaths === 'waves' ? 8 : 1
  for (let wave = 0; wave < waves; wave++) {
    const from = Math.floor((blocks * wave) / waves)
    const to = Math.floor((blocks * (wave + 1)) / waves)
    // Births by parts, so that no more than a few batches wait.
    for (let i = from; i < to; i += BATCH_EVENTS) {
      born(i, Math.min(i + BATCH_EVENTS, to))
      yield* full.splice(0)
    }
    for (const [n, i] of orderOf(shape.deaths, from, to, random)) {
      free(i)
      if (n % BATCH_EVENTS === 0) yield* full.splice(0)
    }
  }
  yield* full.splice(0)
  if (batch.count > 0 || events === 0) yield batch
}

/** The numbers of the blocks from `from` on that are freed, in this order. */
function orderOf(deaths: Shape['deaths'], from: number, to: number, random: (n: number) => number) {
  if (deaths === 'never') return []
  const order = new Uint32Array(to - from).map((_, i) => from + i)
  if (deaths === 'reverse') order.reverse()
  if (deaths === 'waves') return order.filter((i) => i % 16 !== 0).entries()
  if (deaths === 'some') return order.filter((i) => i % 2 === 0).entries()
  if (deaths === 'site') order.sort((a, b) => (a % 10) - (b % 10) || a - b)
  if (deaths === 'random')
    for (let i = order.length - 1; i > 0; i--) {
      const j = random(i + 1)
      const other = order[j] as number
      order[j] = order[i] as number
      order[i] = other
    }
  return order.entries()
}
