import { BATCH_EVENTS, type EventBatch } from '../event/batch.js'
import { fieldSet } from '../event/fields.js'
import { checkOptions, whole, type OptionNames } from '../event/options.js'
import { HIT, MISS, NO_BLOCK } from '../kernel/layouts/allocators.js'
import { AllocatorKernel } from './kernel.js'
import * as Settings from './settings.js'

/** The fields that a replay reads. */
export const REPLAYED = fieldSet('api', 'thread', 'address', 'oldAddress', 'size', 'count', 'alignment', 'outcome')

/** The result of the prediction of an event's address. */
export const Prediction = {
  /** The event begins no block. */
  none: NO_BLOCK,
  right: HIT,
  wrong: MISS,
} as const

const PTMALLOC_SETTINGS: OptionNames<Settings.PtmallocSettings> = {
  allocator: 'string',
  version: 'number',
  bits: 'number',
  cores: 'number',
  stack: 'number',
  learns: 'boolean',
}
const JEMALLOC_SETTINGS: OptionNames<Settings.JemallocSettings> = {
  allocator: 'string',
  version: 'number',
  bits: 'number',
  cores: 'number',
  entries: true,
}
const MAX_CORES = 65_536
const MAX_STACK = 2 ** 40
const MAX_ENTRY = 1024

/**
 * Replays a trace through a simulated allocator, and compares the addresses of its blocks with those that the allocator
 * would have returned. After a wrong prediction the simulated heap is repaired with the true address.
 *
 * Memory grows with the live blocks, about 150 bytes for each, and with threads, 0.5 KB for each. A batch takes bounded
 * time, whatever is in it.
 *
 * @example
 * const replay = new AllocatorReplay({ allocator: 'ptmalloc', version: 36, bits: 64 })
 * for await (const batch of batches) replay.add(batch)
 * console.log(replay.predicted / replay.blocks)
 */
export class AllocatorReplay {
  private readonly kernel = new AllocatorKernel()

  /** @throws RangeError when the settings are out of range, or there is no memory */
  constructor(readonly settings: Settings.AllocatorSettings) {
    this.restart(settings)
  }

  /** Begins again with these settings: all blocks and counts are forgotten. @throws RangeError as the constructor */
  restart(settings: Settings.AllocatorSettings): void {
    checkSettings(settings)
    const isReady = this.kernel.start(settings) && this.kernel.run.clearReplay() !== 0
    this.kernel.refresh()
    if (!isReady) throw new RangeError('there is no memory for a simulated allocator')
    ;(this as { settings: Settings.AllocatorSettings }).settings = settings
  }

  /** Frees memory that the garbage collector does not know of. Nothing else may be used afterwards. */
  dispose(): void {
    this.kernel.dispose()
  }

  /** The number of blocks so far, begun by events with address and size. */
  get blocks(): number {
    return this.kernel.run.blocks.value
  }

  /** The number of these that were at the predicted address. */
  get predicted(): number {
    return this.kernel.run.hits.value
  }

  /**
   * Replays the events of a batch.
   * @param each called for every `BATCH_EVENTS` events or fewer, with the results of their predictions (see
   *   `Prediction`) and the predicted addresses (0: none), event `from + row` in place `row`. The arrays are valid
   *   during the call.
   * @param rows the number of events to replay. Default: all
   */
  add(
    batch: EventBatch,
    each?: (from: number, results: Uint8Array, addresses: BigUint64Array) => void,
    rows = batch.count,
  ): void {
    const { kernel } = this
    const { run } = kernel
    for (let from = 0; from < rows; from += BATCH_EVENTS) {
      const to = Math.min(from + BATCH_EVENTS, rows)
      kernel.columns.put(batch, from, to, REPLAYED)
      run.replay(to - from)
      kernel.refresh()
      if (each === undefined) continue
      const { buffer } = run.memory
      each(
        from,
        new Uint8Array(buffer, run.RESULTS.value, to - from),
        new BigUint64Array(buffer, run.PREDICTED.value, to - from),
      )
    }
  }
}

function checkSettings(settings: Settings.AllocatorSettings): void {
  const { allocator, version, bits, cores = 0 } = settings
  if (allocator === 'ptmalloc') {
    checkOptions(settings, PTMALLOC_SETTINGS, 'AllocatorReplay')
    whole('version', version, ...Settings.PTMALLOC_RANGE)
    whole('stack', settings.stack ?? Settings.THREAD_STACK, 0, MAX_STACK)
  } else if (allocator === 'jemalloc') {
    checkOptions(settings, JEMALLOC_SETTINGS, 'AllocatorReplay')
    whole('version', version, ...Settings.JEMALLOC_RANGE)
    for (const entry of settings.entries ?? []) whole('entries', entry, 0, MAX_ENTRY)
    if (version === 5 && bits === 32) throw new RangeError('jemalloc 5 is simulated for 64 bits only')
  } else throw new RangeError(`unknown allocator ${JSON.stringify(allocator)}`)
  if (bits !== 32 && bits !== 64) throw new RangeError(`bits is 32 or 64, not ${String(bits)}`)
  whole('cores', cores, 0, MAX_CORES)
}
