import type { Fault } from './run.js'

/** What the worker is to do. */
export interface Job {
  seed: number
  /** How many inputs, over all targets. */
  runs: number
  /** The number of the only input, if there is to be only one. */
  only: number | undefined
  name: string
  /** Where the worker writes what it is doing: see `Progress`. */
  progress: SharedArrayBuffer
}

/** Where in the shared memory is what: how many inputs were tried, and which one is tried now. */
export const Progress = { tried: 0, target: 1, run: 2, size: 3 } as const

/** What the worker says at its end. */
export interface Report {
  fault: Fault | undefined
  /** Inputs by target. */
  tried: readonly (readonly [string, number])[]
}
