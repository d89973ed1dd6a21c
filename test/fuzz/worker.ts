import { parentPort, workerData } from 'node:worker_threads'
import { Progress, type Job, type Report } from './job.js'
import { releaseKernels, reuseKernels } from './kernels.js'
import { tryInput, type Fault } from './run.js'
import type { Target } from './target.js'

const { seed, runs, only, name, progress } = workerData as Job
// The targets load kernels, which must come from the pools.
reuseKernels()
const { targetsNamed } = await import('./targets.js')
// Most inputs end with an error, and its stack costs more than the error. A single input is tried with stacks.
if (only === undefined) Error.stackTraceLimit = 0

const state = new BigUint64Array(progress)
const targets = targetsNamed(name)
const weights = targets.reduce((sum, { weight }) => sum + (weight ?? 1), 0)
/** So many inputs of a target come one after the other. Every target has its turn, however few inputs there are. */
const TURN = Math.max(1, Math.min(64, Math.floor(runs / weights)))
const tried = new Map<Target, number>(targets.map((target) => [target, 0]))
const times = new Map<Target, number>(targets.map((target) => [target, 0]))

/** So many faults are found before the worker gives up. */
const MAX_FAULTS = 20

let faults = 0

/** Reports a fault, and goes on. @returns whether there have been too many */
function isTooMuch(fault: Fault | undefined): boolean {
  if (fault === undefined) return false
  parentPort?.postMessage({ fault, tried: undefined } satisfies Report)
  return ++faults === MAX_FAULTS
}

async function fuzz(): Promise<void> {
  let left = runs
  while (left > 0) {
    for (const [t, target] of targets.entries()) {
      const first = tried.get(target) as number
      const n = Math.min(left, TURN * (target.weight ?? 1))
      state[Progress.target] = BigInt(t)
      const start = performance.now()
      for (let run = first; run < first + n; run++) {
        state[Progress.run] = BigInt(run)
        if (isTooMuch(await tryOne(target, run))) return
      }
      left -= n
      times.set(target, (times.get(target) as number) + performance.now() - start)
      tried.set(target, first + n)
    }
  }
}

async function tryOne(target: Target, run: number): Promise<Fault | undefined> {
  state[Progress.tried] = state[Progress.tried] + 1n
  const fault = await tryInput(target, seed, run)
  releaseKernels()
  return fault
}

if (only === undefined) await fuzz()
else isTooMuch(await tryOne(targets[0], only))
const report: Report = {
  fault: undefined,
  tried: [...tried].map(([target, n]) => [target.name, n, times.get(target) as number]),
}
parentPort?.postMessage(report)
