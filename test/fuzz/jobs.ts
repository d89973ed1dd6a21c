// Runs the fuzzer in several processes at once, each with a seed and a part of the inputs of its own. See
// CONTRIBUTING.md.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const { FUZZ_JOBS = '1', FUZZ_RUNS = '200000', FUZZ_SEED = String(Math.floor(Math.random() * 2 ** 32)) } = process.env
const jobs = Number(FUZZ_JOBS)
const main = fileURLToPath(new URL('main.js', import.meta.url))

const codes = await Promise.all(
  Array.from({ length: jobs }, (_, i) => {
    const env = {
      ...process.env,
      FUZZ_SEED: String(Number(FUZZ_SEED) + i),
      FUZZ_RUNS: String(Math.ceil(Number(FUZZ_RUNS) / jobs)),
    }
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    createInterface({ input: child.stdout }).on('line', (line) => {
      process.stdout.write(jobs === 1 ? `${line}\n` : `${i + 1}: ${line}\n`)
    })
    return new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)))
  }),
)
process.exitCode = Math.max(...codes)
