import type { EventBatch } from '../../lib/event/batch.js'
import type { TraceHeader } from '../../lib/event/header.js'
import { FieldBit, Kind } from '../../lib/event/fields.js'

/** What a site or a thread allocated, and what became of it: blocks and bytes. */
interface Shares {
  allocated: [number, bigint]
  leaked: [number, bigint]
  heaptrack: [number, bigint]
  memray: [number, bigint]
}

function grow(sum: [number, bigint], size: bigint): void {
  sum[0]++
  sum[1] += size
}

interface Block {
  size: bigint
  /** The shares of its site and of the thread that allocated or resized it last. */
  shares: Shares[]
  thread: bigint | undefined
  /** The number of the block event that began its life. */
  born: number
  /** The number of calls, and of its thread's allocations, when it was allocated or resized last. */
  call: number
  own: number
}

/** What docs/statistics.md says of the figures, in plain code: one map of blocks, and sums. */
export class Oracle {
  private header: TraceHeader | undefined
  private events = 0
  private readonly leaked = { blocks: 0, bytes: 0n }
  private readonly live = new Map<string | bigint, Block>()
  private liveBytes = 0n
  private readonly allocated = { blocks: 0, bytes: 0n }
  private readonly freed = { blocks: 0, bytes: 0n }
  private peakBytes = { blocks: 0, bytes: 0n, event: 0, allocatedBytes: 0n }
  private peakBlocks = { blocks: 0, bytes: 0n, event: 0, allocatedBytes: 0n }
  private readonly heaptrack = { blocks: 0, bytes: 0n }
  private readonly memray = { blocks: 0, bytes: 0n }
  private readonly lifetimes = { count: 0, sum: 0n }
  private readonly allocations = new Map<string, number>()
  private foreignFrees = 0
  private readonly sites = new Map<string, Shares>()
  private readonly threads = new Map<string, Shares>()
  /** Calls that allocated or freed a block. */
  private calls = 0
  private readonly lastCalls = new Map<bigint | undefined, number>()

  add(batch: EventBatch): void {
    if (batch.header !== this.header) this.endTrace()
    this.header = batch.header
    const stacks = new Map<number, string>()
    const stackOf = (list: number): string => {
      const known = stacks.get(list)
      if (known !== undefined) return known
      const text = batch.strings.list(list).map((id) => batch.strings.text(id))
      stacks.set(list, text.join('\n'))
      return text.join('\n')
    }
    for (let i = 0; i < batch.count; i++) {
      const has = (bit: number) => ((batch.mask[i] as number) & bit) !== 0
      const value = (column: { values: BigUint64Array }, bit: number) =>
        has(bit) ? (column.values[i] as bigint) : undefined
      const thread = value(batch.thread, FieldBit.thread)
      const process = value(batch.process, FieldBit.process)
      const site = has(FieldBit.stack)
        ? stackOf(batch.stack[i] as number)
        : String(value(batch.callSite, FieldBit.callSite))
      const index = value(batch.index, FieldBit.index)
      const nameOf = (address: bigint) => {
        if (index !== undefined) return `#${String(index)}`
        return process === undefined ? address : `${String(process)}:${String(address)}`
      }
      const kind = batch.kind[i]
      this.events++
      const address = value(batch.address, FieldBit.address)
      const size = value(batch.size, FieldBit.size) ?? 0n
      if (kind === Kind.alloc) this.begin(nameOf(address as bigint), size, site, thread, process, this.events)
      else if (kind === Kind.free) this.end(nameOf(address as bigint), thread, process, false)
      else if (kind === Kind.realloc && address !== undefined) {
        const born = this.end(nameOf(batch.oldAddress.values[i] as bigint), thread, process, true)
        this.begin(nameOf(address), size, site, thread, process, born)
      }
    }
  }

  private begin(
    name: string | bigint,
    size: bigint,
    site: string,
    thread: bigint | undefined,
    process: bigint | undefined,
    born: number,
  ) {
    const actor = `${String(process)} ${String(thread)}`
    const own = (this.allocations.get(actor) ?? 0) + 1
    this.allocations.set(actor, own)
    const call = ++this.calls
    this.lastCalls.set(process, call)
    const shares = [sharesOf(this.sites, site), sharesOf(this.threads, actor)]
    for (const { allocated } of shares) grow(allocated, size)
    this.live.set(name, { size, shares, thread, born, call, own })
    this.liveBytes += size
    this.allocated.blocks++
    this.allocated.bytes += size
    const now = {
      blocks: this.live.size,
      bytes: this.liveBytes,
      event: this.events,
      allocatedBytes: this.allocated.bytes,
    }
    if (now.bytes > this.peakBytes.bytes) this.peakBytes = now
    if (now.blocks > this.peakBlocks.blocks) this.peakBlocks = now
  }

  private end(name: string | bigint, thread: bigint | undefined, process: bigint | undefined, resized: boolean) {
    const block = this.live.get(name)
    if (block === undefined) throw new Error(`The shape frees ${String(name)}, which is not live.`)
    this.live.delete(name)
    this.liveBytes -= block.size
    this.freed.blocks++
    this.freed.bytes += block.size
    const add = (name: 'heaptrack' | 'memray') => {
      this[name].blocks++
      this[name].bytes += block.size
      for (const shares of block.shares) grow(shares[name], block.size)
    }
    if (this.lastCalls.get(process) === block.call) add('heaptrack')
    this.lastCalls.set(process, ++this.calls)
    const own = this.allocations.get(`${String(process)} ${String(thread)}`) ?? 0
    if (thread === block.thread && own - block.own <= 1) add('memray')
    if (thread !== block.thread) this.foreignFrees++
    if (!resized) {
      this.lifetimes.count++
      this.lifetimes.sum += BigInt(this.events - block.born)
    }
    return block.born
  }

  /** No block outlives its trace. */
  private endTrace(): void {
    for (const { size, shares } of this.live.values()) for (const { leaked } of shares) grow(leaked, size)
    this.leaked.blocks += this.live.size
    this.leaked.bytes += this.liveBytes
    this.live.clear()
    this.liveBytes = 0n
  }

  /** The figures by their names in `Statistics`. */
  finish() {
    this.endTrace()
    const { sites, threads, leaked } = this
    const { events, allocated, freed, peakBytes, peakBlocks, heaptrack, memray, lifetimes, foreignFrees } = this
    const temporary = { heaptrack, memray }
    return {
      events,
      allocated,
      freed,
      leaked,
      peakBytes,
      peakBlocks,
      temporary,
      lifetimes,
      foreignFrees,
      sites,
      threads,
    }
  }
}

function sharesOf(rows: Map<string, Shares>, name: string): Shares {
  let row = rows.get(name)
  if (row === undefined) {
    row = { allocated: [0, 0n], leaked: [0, 0n], heaptrack: [0, 0n], memray: [0, 0n] }
    rows.set(name, row)
  }
  return row
}
