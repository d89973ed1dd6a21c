import { CountingKernel } from '../../kernel/counting.js'
import type { LiveExports } from '../../kernel/live.js'
import type { Globals } from '../../kernel/load.js'
import { CLASS_ROWS, MOMENT_FIGURES, SIZE_FIGURES, SIZE_ROWS } from '../../kernel/layouts/simulate.js'
import { FITS, LIST_ORDERS, POLICIES, type SimulateSettings } from './policies.js'
import type { HeapMoment, PredictionFigures, SimulationResult } from './result.js'
import { minorOf } from './settings.js'

/** The exports of kernel/simulate.ts, documented in the files beside it. */
interface SimulateExports
  extends
    LiveExports,
    Globals<'PREDICTED' | 'PREDICTIONS' | 'FREED_BEFORE' | 'freedBefore' | 'fault' | 'ADDRESS' | 'OLD_ADDRESS'>,
    Globals<'OUTCOME' | 'MASK' | 'unknowns' | 'unaligned' | 'inPlace' | 'moved' | 'heaps' | 'changes' | 'sumLive'>,
    Globals<'sumUsed' | 'searches' | 'examined' | 'longest' | 'faults' | 'PEAKS' | 'SAMPLES' | 'samples' | 'SIZES'>,
    Globals<'CLASSES'> {
  begin(
    policy: number,
    order: number,
    isDeferred: boolean,
    header: number,
    alignment: number,
    smallest: number,
    page: number,
    trim: number,
    classes: number,
    version: number,
    bits: number,
    hasCaches: boolean,
    seed: number,
  ): number
  placeRows(rows: number): number
  setArenas(count: number, bytes: number, threshold: number): void
}

export class SimulateKernel extends CountingKernel<SimulateExports> {
  constructor(private readonly settings: SimulateSettings) {
    super('simulate')
  }

  /** Begins a simulation. @returns false if there is no memory */
  begin(): boolean {
    const { policy, list, coalescing, header, alignment, smallest, page, trim, classes, prediction } = this.settings
    const { glibc, jemalloc, bits, tcache } = this.settings
    const sizes = classes ?? []
    this.integers(this.run.CLASSES.value, sizes.length).set(sizes.map(BigInt))
    if (prediction !== null) this.run.setArenas(prediction.arenas, prediction.arenaSize, prediction.threshold)
    const isReady = this.run.begin(
      POLICIES.indexOf(prediction?.general ?? policy),
      LIST_ORDERS.indexOf(list ?? 'address'),
      coalescing === 'deferred',
      header,
      alignment,
      smallest,
      page,
      trim ?? -1,
      sizes.length,
      glibc !== null ? minorOf(glibc) : Number(jemalloc ?? 0),
      bits ?? 64,
      tcache !== 'off',
      // The shape of trees, not the result, depends on it.
      Math.floor(Math.random() * 2 ** 32),
    )
    this.refresh()
    return isReady !== 0
  }

  /** The figures so far. */
  result(events: number, reused: number): SimulationResult {
    const { run, settings } = this
    const [mostLive, largestHeap, mostPages] = this.moments(run.PEAKS.value, 3)
    const hasPages = settings.policy !== 'ideal'
    const searches = run.searches.value
    return {
      settings,
      events,
      changes: run.changes.value,
      heaps: run.heaps.value,
      unknown: run.unknowns.value,
      reused,
      unaligned: run.unaligned.value,
      stayed: run.inPlace.value,
      moved: run.moved.value,
      mostLive: momentOrNull(mostLive),
      largestHeap: momentOrNull(largestHeap),
      mostPages: momentOrNull(hasPages ? mostPages : mostLive),
      fragmentation: {
        average: excess(run.sumUsed.value, run.sumLive.value),
        atMostLive: excess(mostLive?.heap, mostLive?.requested),
        atLargestHeap: excess(largestHeap?.heap, largestHeap?.requested),
        ofMaxima: excess(largestHeap?.heap, mostLive?.requested),
      },
      searches: FITS.includes(settings.prediction?.general ?? settings.policy)
        ? { count: searches, mean: searches === 0 ? 0 : run.examined.value / searches, longest: run.longest.value }
        : null,
      pageFaults: hasPages ? run.faults.value : null,
      prediction: settings.prediction === null ? null : { blocks: this.predictions(0), bytes: this.predictions(1) },
      sizes: this.sizes(),
      timeline: this.moments(run.SAMPLES.value, run.samples.value),
    }
  }

  private moments(address: number, n: number): HeapMoment[] {
    const figures = new Float64Array(this.run.memory.buffer, address, n * MOMENT_FIGURES)
    const { page, policy } = this.settings
    return Array.from({ length: n }, (_, i) => {
      const [event, blocks, requested, granted, heap, pages] = figures.subarray(i * MOMENT_FIGURES)
      const inPages = policy === 'ideal' ? Math.ceil(requested / page) : pages
      return { event, blocks, requested, granted, heap, pages: inPages * page }
    })
  }

  /** Counts of blocks (0), or the sums of their bytes (1). */
  private predictions(which: 0 | 1): PredictionFigures {
    const figures = new Float64Array(this.run.memory.buffer, this.run.PREDICTIONS.value, 2 * 5)
    const figure = (i: number) => figures[2 * i + which]
    return {
      allocated: figure(0),
      short: figure(1),
      predicted: figure(2),
      inArenas: figure(3),
      late: figure(3) - figure(4),
    }
  }

  private sizes(): SimulationResult['sizes'] {
    const { memory, SIZES } = this.run
    const figures = new Float64Array(memory.buffer, SIZES.value, (SIZE_ROWS + CLASS_ROWS) * SIZE_FIGURES)
    const row = (i: number, upTo: number) => {
      const [allocations, requested, granted] = figures.subarray(i * SIZE_FIGURES)
      return { upTo, allocations, requested, granted }
    }
    // Larger blocks than those of classes are by powers of two.
    const classes = (this.settings.classes ?? []).map((size, i) => row(SIZE_ROWS + i, size))
    const others = Array.from({ length: SIZE_ROWS }, (_, i) => row(i, 2 ** i))
    return [...classes, ...others].filter(({ allocations }) => allocations > 0)
  }
}

function momentOrNull(moment: HeapMoment | undefined): HeapMoment | null {
  return moment === undefined || moment.event === 0 ? null : moment
}

function excess(used = 0, requested = 0): number | null {
  return requested === 0 ? null : used / requested - 1
}
