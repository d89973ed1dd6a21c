import { BATCH_EVENTS, type EventBatch } from '../event/batch.js'
import { FieldBit } from '../event/fields.js'
import { selectRows } from '../kernel/select.js'
import { AllocatorReplay, REPLAYED } from './replay.js'
import {
  jemallocCandidates,
  PTMALLOC_VERSIONS,
  THREAD_STACK,
  type AllocatorSettings,
  type PtmallocSettings,
} from './settings.js'

/** How many events the trial is made with. */
export const TRIAL_EVENTS = 65_536

/** An allocator counts as recognized if it predicts at least this share of the addresses. */
const RECOGNIZED = 0.5

/** The core counts that are tried if a trace has several threads, after none at all. */
const CORES = [1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128]
/** The mappings for stacks that are tried: with a guard page in addition, without one, and none. */
const STACKS = [THREAD_STACK, THREAD_STACK - 0x1000, 0]

/** Which allocator the addresses of a trace come from. */
export interface AllocatorReport {
  /** The settings that predict most addresses of the first events; undefined if the trace has no blocks. */
  readonly settings: AllocatorSettings | undefined
  /** The versions of the allocator, first and last, that predict as many: a trace seldom shows all differences. */
  readonly versions: readonly [first: number, last: number] | undefined
  /** Whether these settings predict at least half of the addresses: others are no better than chance. */
  readonly isRecognized: boolean
  /** How many blocks began, and how many of these were at the predicted address. */
  readonly blocks: number
  readonly predicted: number
}

/**
 * Finds out which allocator the addresses of a trace come from: its first `TRIAL_EVENTS` events are replayed with every
 * version of the allocator, word size, core count and stack size that may apply, and the rest with the settings that
 * predicted most. Memory: as `AllocatorReplay`, and 6 MB for the first events.
 */
export class AllocatorSurvey {
  private trial: EventBatch[] = []
  private trialEvents = 0
  private replay: AllocatorReplay | undefined
  private versions: readonly [number, number] | undefined

  /** Takes the next events. */
  add(batch: EventBatch): void {
    const { replay } = this
    if (replay !== undefined) {
      replay.add(batch)
      return
    }
    for (let from = 0; from < batch.count; from += BATCH_EVENTS) {
      const rows = Math.min(BATCH_EVENTS, batch.count - from)
      // The batch may be recycled, so the trial needs a copy.
      this.trial.push(
        selectRows(
          batch,
          Int32Array.from({ length: rows }, (_, i) => from + i),
          rows,
          REPLAYED,
        ),
      )
      this.trialEvents += rows
    }
    if (this.trialEvents >= TRIAL_EVENTS) this.choose()
  }

  /** What was found. */
  finish(): AllocatorReport {
    if (this.replay === undefined) this.choose()
    const { settings, blocks, predicted } = this.replay as AllocatorReplay
    const isRecognized = blocks > 0 && predicted >= RECOGNIZED * blocks
    return blocks === 0
      ? { settings: undefined, versions: undefined, isRecognized, blocks, predicted }
      : { settings, versions: this.versions, isRecognized, blocks, predicted }
  }

  /** Makes the trial, and replays its events with the best settings. */
  private choose(): void {
    const { trial } = this
    const replay = new AllocatorReplay({ allocator: 'ptmalloc', version: 36, bits: 64 })
    const tally = (settings: AllocatorSettings) => {
      replay.restart(settings)
      for (const batch of trial) replay.add(batch)
      return replay.predicted
    }
    const bits = isWide(trial) ? ([64] as const) : ([64, 32] as const)
    const tried = bits.flatMap((bits) =>
      PTMALLOC_VERSIONS.map(([, version]) => {
        const settings: PtmallocSettings = { allocator: 'ptmalloc', version, bits, cores: 0, stack: THREAD_STACK }
        return { settings, predicted: tally(settings) }
      }),
    )
    let ptmalloc = bestOf(tried)
    let versions = rangeOf(tried, ptmalloc)
    if (ptmalloc.predicted < replay.blocks && hasThreads(trial)) {
      for (const change of [...STACKS.map((stack) => ({ stack })), ...CORES.map((cores) => ({ cores }))]) {
        const settings = { ...ptmalloc.settings, ...change }
        ptmalloc = bestOf([ptmalloc, { settings, predicted: tally(settings) }])
      }
    }
    let best: Trial = ptmalloc
    if (best.predicted < RECOGNIZED * replay.blocks) {
      const others = bits.flatMap(jemallocCandidates).map((settings) => ({ settings, predicted: tally(settings) }))
      const { settings, predicted } = bestOf(others)
      if (predicted > best.predicted) {
        best = { settings, predicted }
        versions = [settings.version, settings.version]
      }
    }
    tally(best.settings)
    this.versions = versions
    this.replay = replay
    this.trial = []
  }
}

interface Trial<Settings = AllocatorSettings> {
  readonly settings: Settings
  readonly predicted: number
}

/** The trial with most right predictions, the first one of several. */
function bestOf<Settings>(trials: readonly Trial<Settings>[]): Trial<Settings> {
  return trials.reduce((best, trial) => (trial.predicted > best.predicted ? trial : best))
}

/** The versions from that of the best trial on that predict as many addresses, none left out. */
function rangeOf(trials: readonly Trial<PtmallocSettings>[], best: Trial<PtmallocSettings>): readonly [number, number] {
  const { version, bits } = best.settings
  const from = PTMALLOC_VERSIONS.findIndex(([, last]) => last === version)
  let to = from
  const isEqual = (index: number) =>
    trials.some(
      ({ settings, predicted }) =>
        predicted === best.predicted && settings.bits === bits && settings.version === PTMALLOC_VERSIONS[index]?.[1],
    )
  while (isEqual(to + 1)) to++
  const [first] = PTMALLOC_VERSIONS[from] as readonly [number, number]
  const [, last] = PTMALLOC_VERSIONS[to] as readonly [number, number]
  return [first, last]
}

/** Whether there are addresses that 32 bits do not hold. */
function isWide(batches: readonly EventBatch[]): boolean {
  return batches.some(
    (batch) =>
      (batch.columns & FieldBit.address) !== 0 &&
      batch.address.values.subarray(0, batch.count).some((address, i) => {
        return ((batch.mask[i] as number) & FieldBit.address) !== 0 && address >= 2n ** 32n
      }),
  )
}

/** Whether there are several threads. */
function hasThreads(batches: readonly EventBatch[]): boolean {
  let first: bigint | undefined
  return batches.some(
    (batch) =>
      (batch.columns & FieldBit.thread) !== 0 &&
      batch.thread.values.subarray(0, batch.count).some((thread, i) => {
        if (((batch.mask[i] as number) & FieldBit.thread) === 0) return false
        first ??= thread
        return thread !== first
      }),
  )
}
