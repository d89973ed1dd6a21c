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

/** What the worker says of a fault, and at its end. */
export interface Report {
  fault: Fault | undefined
  /** At the end: inputs by target, and how long they took, in milliseconds. */
  tried: readonly (readonly [name: string, count: number, time: number])[] | undefined
}
