// @module-tag slow
import { expect, test } from 'vitest'
import { BlockFate, BlockFates } from '../../lib/blocks/block-fates.js'
import { BATCH_EVENTS, EventBatch } from '../../lib/event/batch.js'
import type { TraceEvent } from '../../lib/event/trace-event.js'
import { HEADER } from '../transforms/events.js'
import { isTestedSize } from '../support/runs.js'
import { SEED } from '../support/seed.js'

const [PROCESSES, THREADS] = [3, 400]

/** What docs/statistics.md says of temporary blocks and of the peak, with a map of live blocks. */
class Plain {
  private readonly live = new Map<bigint, { size: bigint; thread: string; call: number }>()
  private readonly lastOfProcess = new Map<bigint, number>()
  private readonly lastOfThread = new Map<string, [number, number]>()
  private bytes = 0n
  private most = 0n
  private calls = 0

  /** The fate of an event: `BlockFate` bits. */
  take({ kind, address = 0n, oldAddress = 0n, size = 0n, process = 0n, thread = 0n }: Fields): number {
    const caller = `${process} ${thread}`
    const call = ++this.calls
    let fate = 0
    const ends = kind === 'alloc' ? undefined : kind === 'free' ? address : oldAddress
    const block = ends === undefined ? undefined : this.live.get(ends)
    if (block !== undefined) {
      if (this.lastOfProcess.get(process) === block.call) fate |= BlockFate.byHeaptrack
      if (caller === block.thread && this.lastOfThread.get(caller)?.includes(block.call)) fate |= BlockFate.byMemray
      this.live.delete(ends as bigint)
      this.bytes -= block.size
    }
    if (kind === 'free') {
      this.lastOfProcess.delete(process)
      return fate
    }
    this.live.set(address, { size, thread: caller, call })
    this.bytes += size
    this.lastOfProcess.set(process, call)
    this.lastOfThread.set(caller, [call, this.lastOfThread.get(caller)?.[0] ?? 0])
    if (this.bytes <= this.most) return fate
    this.most = this.bytes
    return fate | BlockFate.highest
  }
}

interface Fields {
  readonly kind: string
  readonly address?: bigint
  readonly oldAddress?: bigint
  readonly size?: bigint
  readonly process?: bigint
  readonly thread?: bigint
}

/**
 * As many allocations as blocks are to be live, and then random calls: allocations, frees and reallocs, of the newest
 * block each second time.
 */
function* calls(live: number, count: number): Generator<Fields> {
  let state = SEED
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
  const blocks: { address: bigint; process: bigint }[] = []
  let next = 0x1000n
  for (let i = 0; i < live + count; i++) {
    // Half of the calls are of one thread, so that its calls follow each other.
    const thread = BigInt(below(2) * below(THREADS))
    const size = BigInt(below(1000))
    // 0 and 1 allocate, 2 frees, 3 resizes.
    const what =
      i < live || blocks.length === 0 ? 0 : below(blocks.length < live ? 4 : 3) + Number(blocks.length >= live)
    if (what < 2) {
      const block = { address: (next += 16n), process: BigInt(below(PROCESSES)) }
      blocks.push(block)
      yield { kind: 'alloc', ...block, size, thread }
      continue
    }
    const at = below(2) === 0 ? blocks.length - 1 : below(blocks.length)
    const { address, process } = blocks[at] as { address: bigint; process: bigint }
    if (what === 2) {
      const last = blocks.pop() as { address: bigint; process: bigint }
      if (at < blocks.length) blocks[at] = last
      yield { kind: 'free', address, process, thread }
      continue
    }
    blocks[at] = { address: (next += 16n), process }
    yield { kind: 'realloc', oldAddress: address, address: next, size, process, thread }
  }
}

test.each([10, 3000, 100_000, 1_000_000].filter(isTestedSize))(
  'fates are those of plain maps, with %i live blocks',
  (live) => {
    const [plain, fates, threadless] = [new Plain(), new BlockFates(0), new BlockFates(0, true, false)]
    let batch = new EventBatch(BATCH_EVENTS, 0, HEADER)
    let expected: number[] = []
    let seen = 0
    const compare = () => {
      fates.follow(batch)
      expect([...fates.fates.subarray(0, batch.count)]).toEqual(expected)
      threadless.follow(batch)
      const rest = BlockFate.byHeaptrack | BlockFate.highest
      expect([...threadless.fates.subarray(0, batch.count)].map((fate) => fate & rest)).toEqual(
        expected.map((fate) => fate & rest),
      )
      for (const fate of expected) seen |= fate
      batch = new EventBatch(BATCH_EVENTS, 0, HEADER)
      expected = []
    }
    for (const event of calls(live, Math.max(20_000, live))) {
      batch.push(event as TraceEvent)
      expected.push(plain.take(event))
      if (batch.count === BATCH_EVENTS) compare()
    }
    compare()
    expect(seen).toBe(BlockFate.byHeaptrack | BlockFate.byMemray | BlockFate.highest)
    fates.dispose()
    threadless.dispose()
  },
  300_000,
)
