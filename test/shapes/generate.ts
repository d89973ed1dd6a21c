import { BATCH_EVENTS, EventBatch } from '../../lib/event/batch.js'
import { Api, type ApiName, FieldBit, fieldSet, Kind, Outcome } from '../../lib/event/fields.js'
import type { TraceHeader } from '../../lib/event/header.js'
import { seeded, type Shape } from './shape.js'

const HEADER: TraceHeader = { format: 'ndjson', timeUnit: 'ns' }

/** The bytes that a block of a size takes. */
const taken = (size: bigint) => (size + 31n) & ~15n
const ALLOCATORS: readonly ApiName[] = ['malloc', 'calloc', 'memalign', 'new']

/** What an event has besides the fields that all events of the shape have. */
interface Call {
  readonly kind: number
  readonly api?: ApiName
  /** The number of the block, for its site, its thread and its process. */
  readonly block: number
  readonly thread?: number
  readonly address?: bigint
  readonly oldAddress?: bigint
  readonly size?: bigint
  readonly outcome?: number
}

/** A program whose heap has a shape. */
class Program {
  private readonly fields: number
  private readonly random: (n: number) => number
  private readonly header = { ...HEADER }
  private batch: EventBatch
  private full: EventBatch[] = []
  /** By site, the list of its stack in the current batch, from 1. */
  private readonly lists: Uint32Array
  private readonly base: bigint
  private readonly gap: bigint
  private readonly slots: Float64Array
  private readonly indices: Float64Array
  private index = 0
  private events = 0

  constructor(private readonly shape: Shape) {
    const { blocks, threads, processes, sites, frames, base, gap } = shape
    // Blocks of several processes have addresses of at most 48 bits: see docs/statistics.md.
    const room = BigInt(2 * blocks + 2) * gap
    this.gap = processes > 0 && room >= 1n << 47n ? 4096n : gap
    this.base = room < 1n << 40n ? base : 0x1_0000n
    this.random = seeded(blocks)
    this.fields =
      fieldSet('address', 'oldAddress', 'size', 'outcome') |
      (threads > 0 ? FieldBit.thread : 0) |
      (processes > 0 ? FieldBit.process : 0) |
      (sites === 0 ? 0 : frames > 0 ? FieldBit.stack : FieldBit.callSite) |
      (shape.indexed ? FieldBit.index : 0) |
      (shape.timed ? FieldBit.time : 0) |
      (shape.detailed ? fieldSet('api', 'cpu', 'usable', 'present', 'count', 'elementSize', 'alignment', 'type') : 0)
    this.batch = this.newBatch()
    this.lists = new Uint32Array(sites)
    this.slots = new Float64Array(blocks).map((_, i) => i)
    this.indices = new Float64Array(blocks)
  }

  /** The events, in full batches. */
  *run(): Generator<EventBatch> {
    const { blocks, deaths, detailed } = this.shape
    if (detailed) {
      this.note(Kind.reserve, '', 1n << 20n)
      this.note(Kind.reserve, 'internal', 4096n)
    }
    const waves = deaths === 'waves' ? 8 : 1
    for (let wave = 0; wave < waves; wave++) {
      const from = Math.floor((blocks * wave) / waves)
      const to = Math.floor((blocks * (wave + 1)) / waves)
      // Births by parts, so that no more than a few batches wait.
      for (let i = from; i < to; i += BATCH_EVENTS) {
        for (let j = i; j < Math.min(i + BATCH_EVENTS, to); j++) this.birth(j)
        yield* this.full.splice(0)
      }
      for (const [n, i] of orderOf(deaths, from, to, this.random)) {
        this.free(i)
        if (n % BATCH_EVENTS === 0) yield* this.full.splice(0)
      }
    }
    if (detailed) this.note(Kind.comment, '', 0n)
    yield* this.full
    if (this.batch.count > 0 || this.events === 0) yield this.batch
  }

  private birth(i: number): void {
    const { reused, reallocs, faulty } = this.shape
    this.alloc(i)
    if (reused) {
      this.free(i)
      if (faulty && i % 7 === 0) this.free(i)
      this.alloc(i)
    }
    if (reallocs !== 'none' && i % 5 === 0) this.resize(i)
    if (this.shape.ends && i % 37 === 36) this.put({ kind: Kind['process-end'], block: i })
    if (this.shape.resident && i % 13 === 0) this.resident(i)
    if (faulty && i % 11 === 0) this.fault(i)
  }

  private alloc(i: number): void {
    this.indices[i] = ++this.index
    const api = ALLOCATORS[i % ALLOCATORS.length]
    this.put({
      kind: i % 29 === 28 ? Kind.existing : Kind.alloc,
      api,
      block: i,
      address: this.addressOf(i),
      size: this.sizeOf(i),
    })
  }

  /** Every third block is freed by another thread than its own, and every ninth by another function. */
  private free(i: number): void {
    const api = i % ALLOCATORS.length === 3 && i % 9 !== 0 ? 'delete' : 'free'
    this.put({ kind: Kind.free, api, block: i, thread: i % 3 === 0 ? i + 1 : i, address: this.addressOf(i) })
  }

  private resize(i: number): void {
    const { reallocs } = this.shape
    const oldAddress = this.addressOf(i)
    const size =
      reallocs === 'grow' || reallocs === 'fail' ? (1n << 20n) + BigInt(i) : reallocs === 'shrink' ? 1n : this.sizeOf(i)
    const call: Call = { kind: Kind.realloc, api: 'realloc', block: i, oldAddress, size }
    if (reallocs === 'fail') return this.put(call)
    if (reallocs === 'move') this.slots[i] = this.shape.blocks + i
    this.put({ ...call, address: this.addressOf(i), outcome: reallocs === 'move' ? Outcome.moved : Outcome.none })
  }

  /** What should not happen, or does nothing. */
  private fault(i: number): void {
    const nowhere = this.base - 16n
    const { realloc, free, alloc } = Kind
    const turn = (i / 11) % 6
    const index = this.indices[i]
    if (turn === 0) this.put({ kind: free, api: 'free', block: i, address: 0n })
    else if (turn === 1) this.put({ kind: alloc, api: 'malloc', block: i, address: 0n, size: 1n << 60n })
    else if (turn === 2) this.put({ kind: realloc, api: 'realloc', block: i, size: 0n, oldAddress: 0n })
    else if (turn === 3 && !this.shape.indexed) this.put({ kind: free, api: 'free', block: i, address: nowhere })
    else if (turn === 4) this.alloc(i)
    else if (turn === 5 && !this.shape.indexed) {
      // The block ends, and another one begins at its place.
      const address = this.addressOf(i)
      this.put({ kind: realloc, api: 'realloc', block: i, oldAddress: address, size: 0n, outcome: Outcome.freed })
      this.put({
        kind: realloc,
        api: 'realloc',
        block: i,
        oldAddress: 0n,
        address,
        size: 24n,
        outcome: Outcome.allocated,
      })
    }
    this.indices[i] = this.shape.indexed && turn !== 4 ? index : this.indices[i]
  }

  /** An event that is not about a block. */
  private note(kind: number, type: string, size: bigint): void {
    const { batch } = this
    batch.type[batch.count] = batch.strings.internText(type)
    this.put({ kind, block: 0, size })
  }

  /** The resident set of the process. */
  private resident(i: number): void {
    const { batch } = this
    const at = batch.count
    const bytes = BigInt((i * 7919) % 100_003) << 12n
    this.put({ kind: Kind.other, block: i })
    batch.present.values[at] = bytes
    batch.code[at] = 82
    batch.mask[at] = batch.mask[at] | FieldBit.present | FieldBit.code
    batch.addColumns(FieldBit.present | FieldBit.code)
  }

  private put({ kind, api, block, thread = block, address, oldAddress, size, outcome }: Call): void {
    const { batch, fields, shape } = this
    const { threads, processes, sites, frames } = shape
    const at = batch.count++
    let mask = fields & fieldSet('thread', 'process', 'callSite', 'stack', 'time', 'cpu')
    const isBlock = kind <= Kind.existing
    // Calls about no block have no index.
    if (isBlock && (address ?? oldAddress) !== 0n) mask |= fields & FieldBit.index
    else if (kind === Kind.reserve) mask |= FieldBit.type
    if (shape.indexed) batch.index.values[at] = BigInt(this.indices[block] ?? 0)
    if (threads > 0) batch.thread.values[at] = BigInt(thread % threads) + 1n
    if (processes > 0) batch.process.values[at] = BigInt(block % processes) + 1n
    if (sites > 0 && frames > 0) batch.stack[at] = this.stackOf(block % sites)
    else if (sites > 0) batch.callSite.values[at] = BigInt(block % sites) * 16n + 1n
    if (shape.timed) batch.time.values[at] = BigInt(this.events * 3)
    if (address !== undefined) {
      mask |= FieldBit.address
      batch.address.values[at] = address
    }
    if (oldAddress !== undefined) {
      mask |= FieldBit.oldAddress
      batch.oldAddress.values[at] = oldAddress
    }
    if (size !== undefined) {
      mask |= FieldBit.size
      batch.size.values[at] = size
    }
    if (outcome !== undefined && shape.outcomes) {
      mask |= FieldBit.outcome
      batch.outcome[at] = outcome
    }
    if (shape.detailed && api !== undefined) {
      mask |= FieldBit.api
      batch.api[at] = Api[api]
      batch.cpu[at] = thread % 5
      if (size !== undefined && kind !== Kind.free && address !== 0n) {
        mask |= FieldBit.usable
        batch.usable.values[at] = taken(size)
      } else if (kind === Kind.free) {
        mask |= FieldBit.present
        batch.present.values[at] = BigInt(block % 5000)
      }
      if (api === 'calloc') {
        mask |= fieldSet('count', 'elementSize')
        batch.elements.values[at] = 1n
        batch.elementSize.values[at] = size ?? 0n
      } else if (api === 'memalign') {
        mask |= FieldBit.alignment
        batch.alignment.values[at] = 16n
      }
    } else mask &= ~FieldBit.cpu
    batch.kind[at] = kind
    batch.mask[at] = mask
    this.events++
    if (batch.count < BATCH_EVENTS) return
    this.full.push(batch)
    this.lists.fill(0)
    this.batch = this.newBatch()
  }

  private newBatch(): EventBatch {
    return new EventBatch(BATCH_EVENTS, this.fields, this.header)
  }

  private stackOf(site: number): number {
    const { lists, batch, shape } = this
    if (lists[site] === 0) {
      const { strings } = batch
      const ids = [strings.internText(`site${site}`)]
      const { blocks } = shape
      // Few stacks are as deep as the deepest ones: each batch has its own names of frames.
      const most = blocks > 20_000 ? 6 : site % 97 === 0 ? Infinity : 60
      const frames = Math.min(shape.frames, most)
      while (ids.length < frames) ids.push(strings.internText(`caller${(site % 7) * ids.length}`))
      lists[site] = strings.addList(ids) + 1
    }
    return lists[site] - 1
  }

  private addressOf(i: number): bigint {
    return this.base + BigInt(this.slots[i]) * this.gap
  }

  private sizeOf(i: number): bigint {
    const { random } = this
    const { sizes } = this.shape
    if (sizes === 'zero') return 0n
    if (sizes === 'small') return BigInt(8 + (i % 9))
    if (sizes === 'huge') return (1n << 47n) - BigInt(random(1000))
    if (sizes === 'spread') return (1n << BigInt(random(48))) - BigInt(random(2))
    return 1n << BigInt(random(24))
  }
}

/** The events of a shape, in full batches. */
export function* eventsOf(shape: Shape): Generator<EventBatch> {
  yield* new Program(shape).run()
  if (shape.traces > 2) yield new EventBatch(1, 0, { ...HEADER })
  if (shape.traces > 1) yield* new Program(shape).run()
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
      const other = order[j]
      order[j] = order[i]
      order[i] = other
    }
  return order.entries()
}
