import { BATCH_EVENTS, type EventBatch } from '../event/batch.js'
import { rowsFrom } from '../kernel/select.js'
import { recognize, RECOGNIZED } from './recognize.js'
import { AllocatorReplay, REPLAYED } from './replay.js'
import { PTMALLOC_VERSIONS, THREAD_STACK, type AllocatorSettings } from './settings.js'

/** The number of events of the trial. */
export const TRIAL_EVENTS = 65_536

/** A candidate is given up when it has this number of wrong addresses more than another one. */
const BEHIND = 16

/** The settings for the replay if no allocator is recognized. */
const COMMON: AllocatorSettings = { allocator: 'ptmalloc', version: 36, bits: 64, cores: 0, stack: THREAD_STACK }

/** The allocator from which the addresses of a trace come. */
export interface AllocatorReport {
  /** The settings that predict most addresses of the first events; undefined if the trace has no blocks. */
  readonly settings: AllocatorSettings | undefined
  /** The versions of the allocator, first and last, that predict as many: a trace seldom shows all differences. */
  readonly versions: readonly [first: number, last: number] | undefined
  /** Whether these settings predict at least half of the addresses: others are no better than chance. */
  readonly isRecognized: boolean
  /** The number of blocks that began, and how many of them were at the predicted address. */
  readonly blocks: number
  readonly predicted: number
}

/**
 * Finds out which allocator the addresses of a trace come from: its first `TRIAL_EVENTS` events are replayed with every
 * version of the allocator, word size, core count and stack size that may apply. All that predict most of them replay
 * the rest side by side, until one is ahead. Memory: as `AllocatorReplay` for each of these, and 6 MB for the first
 * events.
 */
export class AllocatorSurvey {
  private trial: EventBatch[] = []
  private trialEvents = 0
  /** The candidates that are left, the likeliest first. */
  private rivals: AllocatorReplay[] | undefined

  /** Takes the next events. */
  add(batch: EventBatch): void {
    if (this.rivals !== undefined) {
      for (const rival of this.rivals) rival.add(batch)
      if (this.rivals.length > 1) this.compare()
      return
    }
    for (let from = 0; from < batch.count; from += BATCH_EVENTS) {
      const rows = Math.min(BATCH_EVENTS, batch.count - from)
      // The batch may be recycled, so the trial needs a copy.
      this.trial.push(rowsFrom(batch, from, rows, REPLAYED))
      this.trialEvents += rows
    }
    if (this.trialEvents >= TRIAL_EVENTS) this.choose()
  }

  /** The findings. */
  finish(): AllocatorReport {
    const rivals = this.rivals ?? this.choose()
    const { settings, blocks, predicted } = bestOf(rivals)
    const isRecognized = blocks > 0 && predicted >= RECOGNIZED * blocks
    if (blocks === 0) return { settings: undefined, versions: undefined, isRecognized, blocks, predicted }
    const equal = rivals.filter((rival) => rival.predicted === predicted).map((rival) => rival.settings)
    return { settings, versions: rangeOf(settings, equal), isRecognized, blocks, predicted }
  }

  /** Frees memory that the garbage collector does not know of. Nothing else may be used afterwards. */
  dispose(): void {
    for (const rival of this.rivals ?? []) rival.dispose()
  }

  /** Makes the trial, and replays its events with the best candidates. */
  private choose(): readonly AllocatorReplay[] {
    const found = recognize(this.trial, true).map(({ settings }) => settings)
    this.rivals = (found.length === 0 ? [COMMON] : found).map((settings) => new AllocatorReplay(settings))
    for (const rival of this.rivals) for (const batch of this.trial) rival.add(batch)
    this.trial = []
    return this.rivals
  }

  /** Gives up the candidates that are behind. */
  private compare(): void {
    const rivals = this.rivals as AllocatorReplay[]
    const { predicted } = bestOf(rivals)
    const isBehind = (rival: AllocatorReplay) => rival.predicted + BEHIND < predicted
    if (!rivals.some(isBehind)) return
    this.rivals = rivals.filter((rival) => !isBehind(rival))
    for (const rival of rivals) if (isBehind(rival)) rival.dispose()
  }
}

/** The candidate with most right predictions, the first one of several. */
function bestOf(rivals: readonly AllocatorReplay[]): AllocatorReplay {
  return rivals.reduce((best, rival) => (rival.predicted > best.predicted ? rival : best))
}

/** The contiguous versions around the best one that are as good. */
function rangeOf(
  { allocator, version }: AllocatorSettings,
  equal: readonly AllocatorSettings[],
): readonly [first: number, last: number] {
  if (allocator === 'jemalloc') return [version, version]
  const isEqual = (index: number) => equal.some((settings) => settings.version === PTMALLOC_VERSIONS[index]?.[1])
  let from = PTMALLOC_VERSIONS.findIndex(([, last]) => last === version)
  let to = from
  while (isEqual(from - 1)) from--
  while (isEqual(to + 1)) to++
  return [PTMALLOC_VERSIONS[from][0], PTMALLOC_VERSIONS[to][1]]
}
