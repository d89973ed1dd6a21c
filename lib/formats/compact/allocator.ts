import {
  AllocatorReplay,
  jemallocCandidates,
  Prediction,
  THREAD_STACK,
  type AllocatorSettings,
  type PtmallocSettings,
} from '../../allocators/index.js'
import { detailOf, numberOf } from '../../allocators/settings.js'
import { HI } from '../../bytes/u64.js'
import { FieldBit } from '../../event/fields.js'
import type { EventBatch } from '../../event/batch.js'
import type { CompactKernel } from './kernel.js'

/*
 * The settings of the simulated allocator, in a trace section: empty if none is simulated; otherwise its number, the
 * version, the bits of a word, a zero, and in 4 bytes each the number of cores and the size of a stack or, of jemalloc,
 * those of the recorder's own blocks.
 */
const SETTINGS_BYTES = 12

/** The settings of an allocator as bytes. */
export function settingsBytes(settings: AllocatorSettings | undefined): Uint8Array {
  if (settings === undefined) return new Uint8Array(0)
  const bytes = new Uint8Array(SETTINGS_BYTES)
  bytes.set([numberOf(settings), settings.version, settings.bits])
  const view = new DataView(bytes.buffer)
  view.setUint32(4, settings.cores ?? 0, true)
  view.setUint32(8, detailOf(settings), true)
  return bytes
}

/** Begins the simulation that the settings of a trace describe. @returns whether there is such an allocator */
export function simulate({ run }: CompactKernel, settings: Uint8Array): boolean {
  if (settings.length === 0) return true
  const [allocator, version, bits, zero] = settings as unknown as [number, number, number, number]
  if (settings.length !== SETTINGS_BYTES || zero !== 0) return false
  const view = new DataView(settings.buffer, settings.byteOffset)
  const cores = view.getUint32(4, true)
  const detail = view.getUint32(8, true)
  return cores < 2 ** 31 && Boolean(run.startSimulation(allocator, version, bits, cores, BigInt(detail), 0n, 0n))
}

/**
 * A trial is given up if its share of right addresses is below this, after this many blocks, twice as many, and so on.
 */
const LEAST_RIGHT = 0.4
const FIRST_BLOCKS = 64
/** A trial of jemalloc with this share of right addresses needs no better one. */
const ENOUGH_RIGHT = 0.9
/** A trial with at most this many wrong addresses is good enough: the addresses of the first blocks cannot be known. */
const FEW_WRONG = 2

/** Versions of glibc with and without a cache for each thread; then all others, the most common ones first. */
const FIRST_VERSIONS = [36, 25]
const VERSIONS = [40, 41, 37, 34, 29]

/** Settings to try if there are several threads and some addresses are wrong. */
const STACKS = [0, THREAD_STACK - 0x1000]
const CORES = [1, 2, 4, 8, 16, 32, 64]

interface Trial<Settings = AllocatorSettings> {
  readonly settings: Settings
  readonly right: number
  /** The number of addresses that were wrong, or would have been. */
  readonly wrong: number
}

/** The allocator that assigned the addresses of the first events of a trace, if it is known. */
export function recognize(batches: readonly EventBatch[]): AllocatorSettings | undefined {
  const bits = hasLongAddress(batches) ? ([64] as const) : ([32, 64] as const)
  const replay = new AllocatorReplay({ allocator: 'ptmalloc', version: 36, bits: bits[0] })
  let best: Trial<PtmallocSettings> | undefined
  const attempt = (settings: PtmallocSettings) => {
    const trial = tally(replay, settings, batches)
    if (best === undefined || trial.right > best.right) best = trial
    return trial.wrong <= FEW_WRONG
  }
  for (const width of bits) {
    const isDone = (version: number) =>
      attempt({ allocator: 'ptmalloc', version, bits: width, cores: 0, stack: THREAD_STACK })
    if (FIRST_VERSIONS.some(isDone)) break
    if (best !== undefined && best.right > 0 && best.settings.bits === width) {
      VERSIONS.some(isDone)
      break
    }
  }
  if (best === undefined || best.right < best.wrong) return recognizeJemalloc(replay, bits, batches)
  if (best.wrong > FEW_WRONG && hasThreads(batches)) {
    for (const stack of STACKS) attempt({ ...best.settings, stack })
    for (const cores of CORES) attempt({ ...best.settings, cores })
  }
  return best.settings
}

function recognizeJemalloc(
  replay: AllocatorReplay,
  bits: readonly (32 | 64)[],
  batches: readonly EventBatch[],
): AllocatorSettings | undefined {
  let best: Trial | undefined
  for (const settings of bits.flatMap(jemallocCandidates)) {
    const trial = tally(replay, settings, batches)
    if (best === undefined || trial.right > best.right) best = trial
    if (trial.right >= ENOUGH_RIGHT * (trial.right + trial.wrong)) break
  }
  return best === undefined || best.right < best.wrong ? undefined : best.settings
}

/** Replays events with an allocator, until all are replayed or too many addresses are wrong. */
function tally<Settings extends AllocatorSettings>(
  replay: AllocatorReplay,
  settings: Settings,
  batches: readonly EventBatch[],
): Trial<Settings> {
  replay.restart(settings)
  let [blocks, right, look, isHopeless] = [0, 0, FIRST_BLOCKS, false]
  for (const batch of batches) {
    // What is given up must not depend on how the events are cut into batches.
    replay.add(batch, (_, results) => {
      for (const result of results) {
        if (result === Prediction.none) continue
        blocks++
        if (result === Prediction.right) right++
        if (blocks !== look) continue
        look *= 2
        if (right < LEAST_RIGHT * blocks) isHopeless = true
      }
    })
    if (isHopeless) return { settings, right: 0, wrong: 1 }
  }
  return { settings, right, wrong: blocks - right }
}

/** Whether some addresses need more than 32 bits. */
function hasLongAddress(batches: readonly EventBatch[]): boolean {
  return batches.some(({ address: { words }, columns, count, mask }) => {
    if ((columns & FieldBit.address) === 0) return false
    for (let i = 0; i < count; i++)
      if (((mask[i] as number) & FieldBit.address) !== 0 && words[2 * i + HI] !== 0) return true
    return false
  })
}

/** Whether there are several threads. */
function hasThreads(batches: readonly EventBatch[]): boolean {
  let first: bigint | undefined
  return batches.some(({ columns, count, mask, thread: { values } }) => {
    if ((columns & FieldBit.thread) === 0) return false
    for (let i = 0; i < count; i++) {
      if (((mask[i] as number) & FieldBit.thread) === 0) continue
      first ??= values[i] as bigint
      if (values[i] !== first) return true
    }
    return false
  })
}
