import { parentPort, workerData } from 'node:worker_threads'
import { Progress, type Job, type Report } from './job.js'
import { releaseKernels, reuseKernels } from './kernels.js'
import { tryInput, type Fault } from './run.js'
import type { Target } from './target.js'

/** So many inputs of a target come one after the other. */
const TURN = 64

const { seed, runs, only, name, progress } = workerData as Job
// The targets load kernels, which must come from the pools.
reuseKernels()
const { targetsNamed } = await import('./targets.js')
// Most inputs end with an error, and its stack costs more than the error. A single input is tried with stacks.
if (only === undefined) Error.stackTraceLimit = 0

const state = new BigUint64Array(progress)
const targets = targetsNamed(name)
const tried = new Map<Target, number>(targets.map((target) => [target, 0]))

async function fuzz(): Promise<Fault | undefined> {
  let left = runs
  while (left > 0) {
    for (const [t, target] of targets.entries()) {
      const first = tried.get(target) as number
      const n = Math.min(left, TURN * (target.weight ?? 1))
      state[Progress.target] = BigInt(t)
      for (let run = first; run < first + n; run++) {
        state[Progress.run] = BigInt(run)
        const fault = await tryOne(target, run)
        if (fault !== undefined) return fault
      }
      left -= n
      tried.set(target, first + n)
    }
  }
  return undefined
}

async function tryOne(target: Target, run: number): Promise<Fault | undefined> {
  state[Progress.tried] = (state[Progress.tried] as bigint) + 1n
  const fault = await tryInput(target, seed, run)
  releaseKernels()
  return fault
}

async function work(): Promise<Fault | undefined> {
  if (only === undefined) return fuzz()
  return tryOne(targets[0] as Target, only)
}

const fault = await work()
const report: Report = { fault, tried: [...tried].map(([target, n]) => [target.name, n]) }
parentPort?.postMessage(report)
