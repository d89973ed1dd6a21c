import { HI } from '../bytes/u64.js'
import { FieldBit } from '../event/fields.js'
import type { EventBatch } from '../event/batch.js'
import { AllocatorReplay } from './replay.js'
import {
  jemallocCandidates,
  PTMALLOC_VERSIONS,
  THREAD_STACK,
  type AllocatorSettings,
  type PtmallocSettings,
} from './settings.js'

/** An allocator counts as recognized if it predicts at least this share of the addresses. */
export const RECOGNIZED = 0.5
/** In a trace of fewer events, a simulation that is wrong more often takes a compact trace more bytes than none. */
const SHORT = { events: 4096, share: 0.95 }

/**
 * All candidates replay the first events, and the remaining ones replay more of them. A candidate is dropped if its
 * share of right addresses is below the minimum, or if its wrong addresses exceed `factor` times the best candidate's
 * by more than `FEW_WRONG`. If no candidate is good, this number remains: their versions hardly matter.
 */
const ROUNDS: readonly Round[] = [
  { events: 256, least: 0.2, factor: 3, left: Infinity },
  { events: 1024, least: 0.35, factor: 2, left: 4 },
  { events: 8192, least: 0.5, factor: 1.25, left: 2 },
  { events: 20_480, least: 0.6, factor: 1.1, left: 1 },
]

interface Round {
  readonly events: number
  readonly least: number
  readonly factor: number
  readonly left: number
}

/** A candidate with this share of wrong addresses is not good. */
const POOR = 0.1
/** A candidate with this share of wrong addresses needs no better one. */
const GOOD = 1 / 4000

/**
 * The number of wrong addresses that do not distinguish candidates: the places of the heap and of the area for mappings
 * are random.
 */
const FEW_WRONG = 2

/** The core counts that are tried if a trace has several threads, after none at all. */
const CORES = [1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128]
/** The mappings for stacks that are tried in addition: without a guard page, and none. */
const STACKS = [THREAD_STACK - 0x1000, 0]
/** Versions of glibc by how many systems have them. Of those that predict as much, the first one is taken. */
const LIKELIEST = [36, 40, 41, 34, 29, 25]

/** An allocator, and how many addresses of the events it predicts. */
interface Candidate {
  readonly settings: AllocatorSettings
  readonly right: number
  readonly wrong: number
}

/**
 * The allocators that predict most of the addresses of some events, and as many as each other: the likeliest one first.
 * @param batches the events, one trace from its beginning or from any event
 * @param isThorough whether all that predict as many are needed; or the first one suffices, if it takes a compact trace
 *   fewer bytes
 * @returns none if none predicts `RECOGNIZED` of the addresses
 */
export function recognize(batches: readonly EventBatch[], isThorough: boolean): readonly Candidate[] {
  const trial = new Trial(batches)
  try {
    return recognizeBy(trial, batches, isThorough)
  } finally {
    trial.dispose()
  }
}

function recognizeBy(trial: Trial, batches: readonly EventBatch[], isThorough: boolean): readonly Candidate[] {
  let left = candidates(batches)
  const isDone = ({ right, wrong }: Candidate) => !isThorough && wrong <= Math.max(FEW_WRONG, GOOD * (right + wrong))
  let best: readonly Candidate[] = []
  for (const settings of left)
    if (!isThorough && best.length === 0 && settings.version === LIKELIEST[0])
      best = trial.quick(settings).filter(isDone)
  if (best.length === 0) {
    for (const round of ROUNDS) if (round.events < trial.events && !trial.isSettled) left = trial.round(left, round)
    best = trial.final(left, isDone)
  }
  const [first] = best
  if (first === undefined) return []
  if (
    !isDone(first) &&
    first.wrong > FEW_WRONG &&
    first.right >= first.wrong &&
    first.settings.allocator === 'ptmalloc' &&
    hasThreads(batches)
  ) {
    const more = best.flatMap(({ settings }) => (settings.allocator === 'ptmalloc' ? variants(settings) : []))
    best = trial.final(more, isDone, best)
  }
  // If no arena of a thread was seen, the version is unknown.
  if (!isThorough && !hasThreads(batches)) best = best.map(learning)
  const least = !isThorough && trial.events < SHORT.events ? SHORT.share : RECOGNIZED
  return best.filter(({ right, wrong }) => right > 0 && right >= least * (right + wrong))
}

function learning({ settings, right, wrong }: Candidate): Candidate {
  const { allocator, version, bits } = settings
  const isOpen = allocator === 'ptmalloc' && bits === 64 && version >= 30 && version <= 41
  return { settings: isOpen ? { ...settings, learns: true } : settings, right, wrong }
}

/** All settings to try, the likeliest first. */
function candidates(batches: readonly EventBatch[]): readonly AllocatorSettings[] {
  const widths = hasLongAddress(batches) ? ([64] as const) : ([64, 32] as const)
  const versions = PTMALLOC_VERSIONS.map(([, last]) => last)
  const ordered = [...LIKELIEST, ...versions.filter((version) => !LIKELIEST.includes(version))]
  return [
    ...widths.flatMap((bits) =>
      ordered.map((version) => ({ allocator: 'ptmalloc', version, bits, cores: 0, stack: THREAD_STACK }) as const),
    ),
    ...widths.flatMap(jemallocCandidates),
  ]
}

/** The same version with other core counts, and other stacks. */
function variants(settings: PtmallocSettings): readonly PtmallocSettings[] {
  return [...STACKS.map((stack) => ({ ...settings, stack })), ...CORES.map((cores) => ({ ...settings, cores }))]
}

/** Replays the same events with one candidate after the other. */
class Trial {
  private readonly replay = new AllocatorReplay({ allocator: 'ptmalloc', version: 36, bits: 64 })
  readonly events: number
  /** Whether one good candidate is left. */
  isSettled = false

  constructor(private readonly batches: readonly EventBatch[]) {
    this.events = batches.reduce((sum, { count }) => sum + count, 0)
  }

  dispose(): void {
    this.replay.dispose()
  }

  /** A candidate with all events, unless it soon turns out to be wrong. */
  quick(settings: AllocatorSettings): readonly Candidate[] {
    const result = this.run(settings, this.events, Math.max(FEW_WRONG, GOOD * this.events))
    return result === undefined ? [] : [result]
  }

  /** The candidates that are left after the first `events` events, in their order. */
  round(from: readonly AllocatorSettings[], { events, least, factor, left }: Round): readonly AllocatorSettings[] {
    let most = Infinity
    const done: Candidate[] = []
    for (const settings of from) {
      const result = this.run(settings, events, most * factor + FEW_WRONG)
      if (result === undefined || result.right < least * (result.right + result.wrong)) continue
      most = Math.min(most, result.wrong)
      done.push(result)
    }
    const near = done.filter(({ wrong }) => wrong <= most * factor + FEW_WRONG)
    const isPoor = near.every(({ right, wrong }) => wrong > POOR * (right + wrong))
    this.isSettled = near.length === 1 && !isPoor
    const kept = isPoor ? near.toSorted((a, b) => a.wrong - b.wrong).slice(0, left) : near
    return kept.map(({ settings }) => settings)
  }

  /**
   * The best candidates, with all events.
   * @param isDone whether a candidate needs no better one
   * @param known the best ones so far, unless one has fewer wrong addresses
   */
  final(
    from: readonly AllocatorSettings[],
    isDone: (candidate: Candidate) => boolean,
    known: readonly Candidate[] = [],
  ): readonly Candidate[] {
    let best = known
    for (const settings of from) {
      const most = best[0]?.wrong ?? Infinity
      const result = this.run(settings, this.events, best === known ? most - 1 : most)
      if (result === undefined) continue
      best = result.wrong < most ? [result] : [...best, result]
      if (isDone(result)) break
    }
    return best
  }

  /** Replays the first events. @returns undefined if there are more wrong addresses than `most` */
  private run(settings: AllocatorSettings, events: number, most: number): Candidate | undefined {
    const { replay } = this
    replay.restart(settings)
    let left = events
    for (const batch of this.batches) {
      if (left <= 0) break
      replay.add(batch, undefined, Math.min(left, batch.count))
      left -= batch.count
      if (replay.blocks - replay.predicted > most) return undefined
    }
    return { settings, right: replay.predicted, wrong: replay.blocks - replay.predicted }
  }
}

/** Whether there are addresses that 32 bits do not hold. */
function hasLongAddress(batches: readonly EventBatch[]): boolean {
  return batches.some(({ address: { words }, columns, count, mask }) => {
    if ((columns & FieldBit.address) === 0) return false
    for (let i = 0; i < count; i++) if ((mask[i] & FieldBit.address) !== 0 && words[2 * i + HI] !== 0) return true
    return false
  })
}

/** Whether there are several threads. */
function hasThreads(batches: readonly EventBatch[]): boolean {
  let first: bigint | undefined
  return batches.some(({ columns, count, mask, thread: { values } }) => {
    if ((columns & FieldBit.thread) === 0) return false
    for (let i = 0; i < count; i++) {
      if ((mask[i] & FieldBit.thread) === 0) continue
      first ??= values[i]
      if (values[i] !== first) return true
    }
    return false
  })
}
