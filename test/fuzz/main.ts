// Throws damaged and random inputs at everything that reads, writes or changes events. See CONTRIBUTING.md.
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Progress, type Job, type Report } from './job.js'
import { inputOf, type Fault } from './run.js'
import { targetsNamed } from './targets.js'

/** An input that takes longer than this hangs, in milliseconds. */
const HANG = 120_000
/** More memory than this is too much for inputs that are so small. */
const MAX_MEMORY = 1_500_000_000
/** How often to look, and how often to say how it goes, in milliseconds. */
const LOOK = 1000
const REPORT = 30_000

const number = (name: string, otherwise: number): number => {
  const value = Number(process.env[name] ?? otherwise)
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${name} must be a whole number`)
  return value
}

const seed = number('FUZZ_SEED', Math.floor(Math.random() * 2 ** 32))
const runs = number('FUZZ_RUNS', 200_000)
const name = process.env['FUZZ_FORMAT'] ?? ''
const only = process.env['FUZZ_RUN'] === undefined ? undefined : number('FUZZ_RUN', 0)
const targets = targetsNamed(name)
if (targets.length === 0) throw new RangeError(`nothing that is fuzzed has the name ${name}`)

const progress = new SharedArrayBuffer(8 * Progress.size)
const state = new BigUint64Array(progress)
const job: Job = { seed, runs, only, name, progress }
const worker = new Worker(new URL('./worker.js', import.meta.url), {
  workerData: job,
  // Almost nothing outlives its input, so that a large young generation saves most of the collector's work.
  resourceLimits: { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 96 },
})
const start = performance.now()
let looked = { tried: 0n, at: start }
let reported = start
console.log(
  `seed ${seed}: ${only === undefined ? `${runs} inputs` : `input ${only}`} for ${targets.map((target) => target.name).join(', ')}`,
)

const timer = setInterval(() => {
  const now = performance.now()
  const tried = state[Progress.tried]
  if (tried !== looked.tried) looked = { tried, at: now }
  if (now - looked.at > HANG) stop(`takes more than ${HANG / 1000} s`)
  else if (process.memoryUsage.rss() > MAX_MEMORY) stop(`the process takes ${process.memoryUsage.rss()} bytes`)
  else if (now - reported > REPORT) {
    reported = now
    console.log(`${tried} inputs, ${rate(Number(tried))}/s`)
  }
}, LOOK)

let faults = 0
worker.on('message', ({ fault, tried }: Report) => {
  if (fault !== undefined) fail(fault)
  if (tried === undefined) return
  clearInterval(timer)
  if (only === undefined)
    for (const [target, n, time] of tried)
      console.log(`${String(n).padStart(10)} ${target.padEnd(20)} ${rate(n, time)}/s`)
  const n = Number(state[Progress.tried])
  console.log(`${n} inputs, ${faults === 0 ? 'without a failure' : `${faults} fail`}, ${rate(n)}/s`)
})
worker.on('error', (error) => stop(error.stack ?? String(error)))

/** Inputs in a second. */
function rate(n: number, time = performance.now() - start): number {
  return Math.round((1000 * n) / Math.max(1, time))
}

/** The worker cannot say any more which input it was. */
function stop(message: string): void {
  clearInterval(timer)
  const target = targets[Number(state[Progress.target])]
  void worker.terminate()
  if (target === undefined) throw new Error(message)
  fail({ target: target.name, run: Number(state[Progress.run]), message })
}

function fail({ target: targetName, run, message }: Fault): void {
  process.exitCode = 1
  faults++
  const target = targets.find((each) => each.name === targetName)
  if (target === undefined) throw new Error(message)
  console.log(`${targetName}, input ${run} of seed ${seed} fails: ${message}`)
  const input = inputOf(target, seed, run)
  const file = join(tmpdir(), `fuzz-${targetName}-${seed}-${run}${input.extension}`)
  writeFileSync(file, input.bytes())
  console.log(`The input is in ${file}. To try it again:`)
  console.log(`FUZZ_SEED=${seed} FUZZ_FORMAT=${targetName} FUZZ_RUN=${run} npm run fuzz`)
}
