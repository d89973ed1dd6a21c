import { AllocatorReplay, AllocatorSurvey, THREAD_STACK, type AllocatorSettings } from '../../lib/allocators/index.js'
import { AllocatorKernel } from '../../lib/allocators/kernel.js'
import type { EventBatch, TraceEvent } from '../../lib/event/batch.js'
import { CALLOC, MALLOC, MEMALIGN } from '../../lib/kernel/layouts/allocators.js'
import { compact } from '../../lib/formats/compact/index.js'
import { checkEvents, textOf } from './codecs.js'
import { recutBatches } from './drive.js'
import { Failure } from './failure.js'
import { ANYTHING, cutIntoBatches, randomEvents, type Shape } from './events.js'
import type { Random } from './random.js'
import type { Target } from './target.js'

const HEADER = { format: 'unknown' } as const
const CALLS: Shape = {
  alloc: ANYTHING.alloc ?? 0,
  free: ANYTHING.free ?? 0,
  realloc: ANYTHING.realloc ?? 0,
  'thread-destroy': ANYTHING['thread-destroy'] ?? 0,
}

/** Random settings of each simulated allocator. */
const ALLOCATORS: Readonly<Record<string, (random: Random) => AllocatorSettings>> = {
  ptmalloc: (random) => ({
    allocator: 'ptmalloc',
    version: 23 + random.below(21),
    bits: random.oneIn(2) ? 32 : 64,
    cores: random.below(3),
    stack: random.pick([0, 0x1000, THREAD_STACK]),
    learns: random.oneIn(2),
  }),
  jemalloc: (random) => {
    const version = 3 + random.below(3)
    return {
      allocator: 'jemalloc',
      version,
      bits: version === 5 || random.oneIn(2) ? 64 : 32,
      cores: random.below(3),
      entries: random.oneIn(2) ? [0, 0] : [random.below(100), random.below(1000)],
    }
  },
}

/** Calls through each simulated allocator: of a program whose blocks are mostly where it puts them, or any. */
export const ALLOCATOR_TARGETS: readonly Target[] = Object.entries(ALLOCATORS).map(([name, settingsOf]) => ({
  name,
  weight: 1 / 2,
  make(random) {
    const settings = settingsOf(random)
    const most = random.oneIn(20) ? 3000 : 300
    const events = random.oneIn(4) ? randomEvents(random, CALLS, most) : new Program(settings, random).run(most)
    const batches = cutIntoBatches(random, events, HEADER)
    return { extension: '.ndjson', bytes: () => textOf(batches), check: () => check(settings, batches, random) }
  },
}))

function check(settings: AllocatorSettings, batches: readonly EventBatch[], random: Random): void {
  const plain = replayed(new AllocatorReplay(settings), batches)
  // One replay for all inputs, which has to forget the one before.
  again ??= new AllocatorReplay(settings)
  again.restart(settings)
  const recut = replayed(again, recutBatches(batches, random))
  if (recut !== plain) throw new Failure(`in other batches or after another trace: ${recut}, not ${plain}`)
  if (!random.oneIn(8)) return
  const survey = new AllocatorSurvey()
  for (const batch of batches) survey.add(batch)
  const { predicted, blocks } = survey.finish()
  if (predicted > blocks) throw new Failure(`${predicted} of ${blocks} addresses are predicted`)
  checkEvents(compact, batches, random)
}

let again: AllocatorReplay | undefined

/** What became of each prediction, as text. */
function replayed(replay: AllocatorReplay, batches: readonly EventBatch[]): string {
  let hash = 0
  for (const batch of batches)
    replay.add(batch, (_, results, addresses) => {
      const words = new Uint32Array(addresses.buffer, addresses.byteOffset, 2 * addresses.length)
      results.forEach((result, i) => {
        hash = Math.imul(hash ^ result, 0x0100_0193) ^ words[2 * i]
        hash = Math.imul(hash, 0x9e37_79b1) ^ words[2 * i + 1]
      })
    })
  return `${replay.predicted} of ${replay.blocks} (${hash >>> 0})`
}

let kernel: AllocatorKernel | undefined

/** A program that calls a simulated allocator. */
class Program {
  private readonly allocator: AllocatorKernel
  private readonly events: TraceEvent[] = []
  private readonly live: bigint[] = []
  private readonly threads: number
  /** One of so many addresses is not where the allocator puts it; others are wherever `elsewhere` is. */
  private readonly surprise: number
  private elsewhere: bigint
  private readonly sizes: readonly bigint[]

  constructor(
    settings: AllocatorSettings,
    private readonly random: Random,
  ) {
    kernel ??= new AllocatorKernel()
    this.allocator = kernel
    kernel.start(settings)
    this.threads = random.pick([1, 1, 3, 40])
    this.surprise = random.pick([8, 50, 1000])
    this.elsewhere = random.pick([0x5555_5555_92a0n, 0x804_b1a0n, 0xf000n])
    this.sizes = Array.from({ length: 1 + random.below(6) }, () => this.anySize())
  }

  /** Makes some calls. @returns them */
  run(most: number): TraceEvent[] {
    const { events, live, random } = this
    const { run } = this.allocator
    const freed = 2 + random.below(3)
    for (let n = random.below(most); n > 0; n--) {
      const number = random.below(this.threads)
      const thread = BigInt(number)
      if (live.length > 0 && random.oneIn(freed)) {
        const address = this.takeLive()
        run.simFree(number, address)
        events.push({ kind: 'free', thread, address })
      } else if (random.oneIn(100)) {
        run.simThreadEnd(number)
        events.push({ kind: 'thread-destroy', thread })
      } else this.makeBlock(number, thread)
    }
    return events
  }

  private makeBlock(number: number, thread: bigint): void {
    const { live, random } = this
    const { run } = this.allocator
    const size = random.oneIn(4) ? this.anySize() : random.pick(this.sizes)
    const add = (predicted: bigint, event: TraceEvent) => {
      const address = this.settle(predicted)
      this.events.push({ ...event, address } as TraceEvent)
      live.push(address)
    }
    switch (random.below(live.length > 0 ? 8 : 7)) {
      case 0: {
        const count = BigInt(1 + random.below(4))
        return add(run.simMake(CALLOC, number, count, 0, size), { kind: 'alloc', api: 'calloc', thread, size, count })
      }
      case 1: {
        const alignment = 1n << BigInt(random.below(18))
        const event = { kind: 'alloc', api: 'memalign', thread, size, alignment } as const
        return add(run.simMake(MEMALIGN, number, alignment, 0, size), event)
      }
      case 7: {
        const oldAddress = this.takeLive()
        return add(run.simRealloc(number, oldAddress, size), { kind: 'realloc', thread, oldAddress, size })
      }
      default:
        return add(run.simMake(MALLOC, number, 0n, 0, size), { kind: 'alloc', api: 'malloc', thread, size })
    }
  }

  /** Where a new block is. */
  private settle(returned: bigint): bigint {
    const { random } = this
    // WebAssembly's integers are signed here.
    const predicted = BigInt.asUintN(64, returned)
    if (predicted !== 0n && !random.oneIn(this.surprise)) return predicted
    if (random.oneIn(10)) this.elsewhere = random.u64() | 1n
    else
      this.elsewhere = BigInt.asUintN(
        64,
        (predicted === 0n ? this.elsewhere : predicted) + BigInt(16 * random.below(3000)),
      )
    this.allocator.run.simFix(predicted, this.elsewhere)
    return this.elsewhere
  }

  private takeLive(): bigint {
    const { live, random } = this
    const [address] = live.splice(random.oneIn(2) ? -1 : random.below(live.length), 1)
    return address as bigint
  }

  private anySize(): bigint {
    const { random } = this
    if (random.oneIn(30)) return random.u64()
    return BigInt(random.below(2 ** (1 + random.below(random.oneIn(4) ? 27 : 12))))
  }
}
