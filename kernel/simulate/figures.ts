/** Figures of a simulated heap: at its peaks, over time, and by size. */
import { CLASS_ROWS, MOMENT_FIGURES, SIZE_FIGURES, SIZE_ROWS } from '../../lib/kernel/layouts/simulate'
import { pages } from './pages'
import { used } from './settings'

/** The live blocks: their number, the bytes requested, and those that they take with headers and rounding. */
let liveBlocks: f64 = 0
let liveBytes: f64 = 0
let liveGranted: f64 = 0

/**
 * A moment: the number of its event, from 1; and the live blocks, requested, granted and used bytes, and pages at it.
 */
const MOMENT: usize = 8 * MOMENT_FIGURES
/** The moments at which most bytes were live, the heap was largest, and most pages had live blocks. */
export const PEAKS: usize = memory.data(3 * 8 * MOMENT_FIGURES)

/** The number of events that changed the live set, and the sums of live and used bytes after each. */
export let changes: f64 = 0
export let sumLive: f64 = 0
export let sumUsed: f64 = 0

/** Samples at equal distances, and their number. */
export const SAMPLES: usize = memory.data(49152)
export let samples: u32 = 0
const MOST_SAMPLES: u32 = 1024
let distance: u32 = 1
let until: u32 = 1

/**
 * By the logarithm of the requested size, and then by size class: the number of allocations, and their requested and
 * granted bytes.
 */
export const SIZES: usize = memory.data(8 * SIZE_FIGURES * (SIZE_ROWS + CLASS_ROWS))

export function clearFigures(): void {
  liveBlocks = liveBytes = liveGranted = changes = sumLive = sumUsed = 0
  samples = 0
  distance = until = 1
  memory.fill(PEAKS, 0, 3 * MOMENT)
  memory.fill(SIZES, 0, 8 * SIZE_FIGURES * (SIZE_ROWS + CLASS_ROWS))
}

export function gain(bytes: u64, granted: u64): void {
  liveBlocks++
  liveBytes += <f64>bytes
  liveGranted += <f64>granted
}

// @ts-ignore: decorator
@inline
export function lose(bytes: u64, granted: u64): void {
  liveBlocks--
  liveBytes -= <f64>bytes
  liveGranted -= <f64>granted
}

/** Counts an allocation by its size class, or by its size if it has none (`CLASS_ROWS` or more). */
export function countSize(bytes: u64, granted: u64, kind: u32 = CLASS_ROWS): void {
  const row = kind < CLASS_ROWS ? <u64>(SIZE_ROWS + kind) : bytes < 2 ? 0 : 64 - clz(bytes - 1)
  const at = SIZES + 8 * SIZE_FIGURES * <usize>row
  store<f64>(at, load<f64>(at) + 1)
  store<f64>(at, load<f64>(at, 8) + <f64>bytes, 8)
  store<f64>(at, load<f64>(at, 16) + <f64>granted, 16)
}

function note(at: usize, event: f64): void {
  store<f64>(at, event)
  store<f64>(at, liveBlocks, 8)
  store<f64>(at, liveBytes, 16)
  store<f64>(at, liveGranted, 24)
  store<f64>(at, <f64>used, 32)
  store<f64>(at, pages, 40)
}

/** Notes that the live set has changed. */
export function noteChange(event: f64): void {
  const isFirst = changes++ == 0
  sumLive += liveBytes
  sumUsed += <f64>used
  if (isFirst || liveBytes > load<f64>(PEAKS, 16)) note(PEAKS, event)
  if (isFirst || <f64>used > load<f64>(PEAKS + MOMENT, 32)) note(PEAKS + MOMENT, event)
  if (isFirst || pages > load<f64>(PEAKS + 2 * MOMENT, 40)) note(PEAKS + 2 * MOMENT, event)
  if (--until != 0) return
  if (samples == MOST_SAMPLES) {
    for (let i: usize = 0; i < MOST_SAMPLES / 2; i++)
      memory.copy(SAMPLES + i * MOMENT, SAMPLES + (2 * i + 1) * MOMENT, MOMENT)
    samples = MOST_SAMPLES / 2
    distance *= 2
    // The last sample is half of the new distance ago.
    until = distance / 2
    return
  }
  note(SAMPLES + <usize>samples * MOMENT, event)
  samples++
  until = distance
}
