import type { HeapMoment, SimulationResult } from '../../transforms/simulate/result.js'
import type { PoolGain } from './pools.js'

/** A moment with its fragmentation; null if there is no memory. */
export interface WastefulMoment extends HeapMoment {
  /** The part of the granted bytes that was not requested. */
  readonly internal: number | null
  /** The part of the heap that is not granted. */
  readonly external: number | null
}

/** The figures of one policy, in the form of `hf-simulate --json` and the page. */
export interface SimulationFigures extends Omit<SimulationResult, 'mostLive' | 'largestHeap' | 'mostPages'> {
  readonly mostLive: WastefulMoment | null
  readonly largestHeap: WastefulMoment | null
  readonly mostPages: WastefulMoment | null
}

/** One trace under several policies. */
export interface SimulatedTrace {
  readonly simulations: readonly SimulationFigures[]
  /** The policies that cannot simulate the traces, each with the reason. */
  readonly without: readonly { readonly policy: string; readonly reason: string }[]
  /** The savings by pools for short-lived blocks; null if they are small, or were not simulated. */
  readonly pools: PoolGain | null
}

export interface SimulationData {
  readonly version: 1
  /** The name of the trace. */
  readonly name: string
  /** The program that made the page. */
  readonly generator: string
  /** Notes for readers, as sentences. */
  readonly notes: readonly string[]
  readonly traces: readonly SimulatedTrace[]
}

/** A result whose moments have their fragmentation, too. */
export function figuresOf(result: SimulationResult): SimulationFigures {
  const whole = (moment: HeapMoment | null) => (moment === null ? null : { ...moment, ...wasteOf(moment) })
  const { mostLive, largestHeap, mostPages } = result
  return { ...result, mostLive: whole(mostLive), largestHeap: whole(largestHeap), mostPages: whole(mostPages) }
}

/** Internal and external fragmentation at a moment. */
export function wasteOf({ requested, granted, heap }: HeapMoment): Pick<WastefulMoment, 'internal' | 'external'> {
  return {
    internal: granted === 0 ? null : 1 - requested / granted,
    external: heap === 0 ? null : 1 - granted / heap,
  }
}

/** The name of a policy with arenas. */
const PREDICTED = 'bump, predicted'

/** The name of a simulated policy. */
export function policyTitle({ settings }: Pick<SimulationResult, 'settings'>): string {
  return settings.prediction === null ? settings.policy : PREDICTED
}

/** A figure of the table of policies. */
export interface ComparedColumn {
  readonly title: string
  /** Its description, for the page. */
  readonly help: string
  /** Bytes, a part of 1, or a mean of counts. */
  readonly unit: 'bytes' | 'part' | 'mean'
  /** Null if it is unknown. */
  readonly of: (figures: SimulationFigures) => number | null
}

/** The columns of the table of policies, after their names: docs/allocators.md explains them. */
export const COMPARED: readonly ComparedColumn[] = [
  {
    title: 'largest heap',
    help: 'the most bytes that the policy has from the system',
    unit: 'bytes',
    of: ({ largestHeap }) => largestHeap?.heap ?? null,
  },
  {
    title: 'most pages',
    help: 'the most bytes of pages in which live blocks are',
    unit: 'bytes',
    of: ({ mostPages }) => mostPages?.pages ?? null,
  },
  {
    title: 'average',
    help: 'heap over live bytes, less 1: of the averages over all events',
    unit: 'part',
    of: ({ fragmentation }) => fragmentation.average,
  },
  {
    title: 'most live',
    help: 'heap over live bytes, less 1: when most bytes are live',
    unit: 'part',
    of: ({ fragmentation }) => fragmentation.atMostLive,
  },
  {
    title: 'heap largest',
    help: 'heap over live bytes, less 1: when the heap is largest',
    unit: 'part',
    of: ({ fragmentation }) => fragmentation.atLargestHeap,
  },
  {
    title: 'maxima',
    help: 'the largest heap over the most live bytes, less 1',
    unit: 'part',
    of: ({ fragmentation }) => fragmentation.ofMaxima,
  },
  {
    title: 'internal',
    help: 'the part of the granted bytes that was not requested, when the heap is largest',
    unit: 'part',
    of: ({ largestHeap }) => largestHeap?.internal ?? null,
  },
  {
    title: 'external',
    help: 'the part of the heap that is not granted, when it is largest',
    unit: 'part',
    of: ({ largestHeap }) => largestHeap?.external ?? null,
  },
  {
    title: 'search',
    help: 'the free blocks that a search examines, on average',
    unit: 'mean',
    of: ({ searches }) => searches?.mean ?? null,
  },
]

/** The options of a policy in one line: `best-fit, immediate coalescing, header 8, ...`. */
export function optionsOf({ settings }: Pick<SimulationResult, 'settings'>): string {
  const { policy, list, coalescing, header, alignment, smallest, page, trim, classes, prediction } = settings
  const { glibc, jemalloc, bits, tcache } = settings
  if (policy === 'ideal') return policy
  return [
    policy,
    ...(prediction === null
      ? []
      : [
          `${prediction.arenas} arenas of ${prediction.arenaSize}`,
          `sites are ${prediction.frames === null ? 'whole stacks' : `${prediction.frames} frames`}`,
          `other blocks in ${prediction.general}`,
        ]),
    ...(glibc === null ? [] : [`glibc ${glibc}`]),
    ...(jemalloc === null ? [] : [`version ${jemalloc}`, `${bits ?? 64} bits`]),
    ...(tcache === null ? [] : [`tcache ${tcache}`]),
    ...(list === null ? [] : [`list by ${list}`]),
    ...(coalescing === null ? [] : [`${coalescing} coalescing`]),
    `header ${header}`,
    `alignment ${alignment}`,
    `smallest ${smallest}`,
    `page ${page}`,
    ...(trim === null ? [] : [`trim ${trim}`]),
    ...(classes === null ? [] : [`${classes.length} classes from ${classes[0]} to ${classes.at(-1) as number}`]),
  ].join(', ')
}
