import { batchesOf, type EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import { Preparation, type PrepareOptions } from '../../../lib/transforms/drive/preparation.js'
import { drive } from '../../support/drive.js'

const APIS = ['malloc', 'calloc', 'memalign', 'new'] as const

/**
 * Calls of threads, some of which free what others allocate. Threads end, and begin again.
 * @param threads their number; 1 makes a trace without threads
 */
export function* calls(threads: number, count: number, random: (n: number) => number): Generator<TraceEvent> {
  const live: bigint[] = []
  for (let i = 1n; i <= count; i++) {
    const thread = threads === 1 ? {} : { thread: BigInt(random(threads)) }
    const address = 64n * i
    const size = BigInt(random(40) === 0 ? random(200_000) : random(300))
    if (threads > 1 && random(300) === 0) yield { kind: 'thread-destroy', ...thread }
    const choice = random(10)
    if (live.length === 0 || choice < 5) {
      const api = APIS[random(4)]!
      const aligned = api === 'memalign' ? { alignment: 1n << BigInt(3 + random(10)) } : {}
      live.push(address)
      yield { kind: 'alloc', api, ...thread, address, size, ...aligned }
      continue
    }
    const [oldAddress] = live.splice(random(live.length), 1)
    if (choice < 9) yield { kind: 'free', ...thread, address: oldAddress! }
    else {
      live.push(address)
      yield { kind: 'realloc', ...thread, oldAddress: oldAddress!, address, size: size + 1n }
    }
  }
}

/** The file of operations of events. */
export function operationsOf(
  events: Iterable<TraceEvent> | readonly EventBatch[],
  options: PrepareOptions = {},
): Buffer {
  const preparation = new Preparation(options)
  const batches = isBatches(events) ? events : batchesOf(events)
  const { out, error } = drive(preparation, batches)
  if (error !== undefined) throw error
  return Buffer.concat(out)
}

function isBatches(events: Iterable<TraceEvent> | readonly EventBatch[]): events is readonly EventBatch[] {
  return Array.isArray(events) && events.length > 0 && 'mask' in events[0]
}
