// Runs the benchmarks: see README.md. Needs a current build, which `npm run bench` makes.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCase } from './fork.mjs'
import { fileInput, generatedInput, gitInput, largeInput } from './inputs.mjs'
import { describeMachine } from './machine.mjs'
import { withGenerated } from './markdown.mjs'
import { measureMemory, memoryObstacle } from './memory.mjs'
import { buildNative } from './native/build.mjs'
import { report, resultsName } from './report.mjs'

// Node reads the certificates in this file whenever it starts, which may take longer than the rest of its start.
delete process.env.NODE_EXTRA_CA_CERTS

/** Cases within one process, on each trace, and cases of whole processes, on a large one. */
const IN_PROCESS = ['mtrc', 'replay', 'hatf', 'compact', 'strategies', 'kmemtrace', 'heapmon', 'recorders', 'ndjson', 'metatf', 'gunzip', 'filter', 'transforms', 'profile']
const PROCESSES = ['startup', 'pipeline', 'threads']
const MEMORY = 'memory'

const FULL = {
  events: 400_000, process: 4_000_000, memory: [1_000_000, 20_000_000], rounds: 7, warmups: 2, processWarmups: 1, memoryRounds: 1,
}
const QUICK = { events: 10_000, process: 10_000, memory: [10_000], rounds: 1, warmups: 1, processWarmups: 0, memoryRounds: 1 }

const USAGE = `usage: npm run bench -- [--quick] [--only NAME]... [--save] [TRACE]...
  --quick      small traces and few rounds: shows that everything runs, not how fast
  --only NAME  one of ${[...IN_PROCESS, ...PROCESSES, MEMORY].join(', ')}; may be repeated
  --save       keep the results in bench/results and show them in bench/README.md
  TRACE        traces of any format instead of the usual ones`

/** @returns {{ quick: boolean, save: boolean, wanted: (name: string) => boolean, traces: string[] } | undefined} */
function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: {
        quick: { type: 'boolean' },
        save: { type: 'boolean' },
        only: { type: 'string', multiple: true },
        help: { type: 'boolean' },
      },
      allowPositionals: true,
    })
    const only = values.only ?? []
    const unknown = only.find((name) => ![...IN_PROCESS, ...PROCESSES, MEMORY].includes(name))
    if (unknown !== undefined) throw new Error(`there is no case ${unknown}`)
    const partial = values.quick === true || only.length > 0 || positionals.length > 0
    if (values.save === true && partial) throw new Error('only full runs are kept')
    if (values.help === true) throw new Error('')
    return {
      quick: values.quick ?? false,
      save: values.save ?? false,
      wanted: (name) => only.length === 0 || only.includes(name),
      traces: positionals,
    }
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    console.error(`${message}\n${USAGE}`.trim())
    process.exitCode = message === '' ? 0 : 2
    return undefined
  }
}

async function main() {
  const args = readArguments()
  if (args === undefined) return
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-bench-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('SIGINT', () => {
    remove()
    process.exit(130)
  })
  try {
    const results = await runAll(args, folder)
    const text = report(results)
    console.log(text)
    if (args.save) save(results, text)
  } finally {
    remove()
  }
}

/** @returns {Promise<import('./report.mjs').Results>} */
async function runAll({ quick, wanted, traces }, folder) {
  const size = quick ? QUICK : FULL
  const plan = { rounds: size.rounds, warmups: size.warmups }
  const machine = describeMachine()
  const run = (name, inputName, input, more) => {
    say(`${name} (${inputName})`)
    return runCase(name, inputName, input, { ...plan, ...more })
  }
  const native = buildNative(folder)
  if (native === undefined) say('no C compiler: the native yardsticks are left out')
  /** @type {import('./case.mjs').CaseResult[]} */
  const cases = []
  const inProcess = IN_PROCESS.filter(wanted)
  for (const input of inProcess.length > 0 ? await usualOr(traces, size.events, quick, folder) : []) {
    for (const name of inProcess) cases.push(await run(name, input.name, { ...input, native }))
  }
  const processes = PROCESSES.filter(wanted)
  const trace = processes.length > 0 ? await largeInput(folder, size.process) : undefined
  for (const name of processes) {
    cases.push(await run(name, `${size.process / 1e6} million events`, { ...trace, native }, { warmups: size.processWarmups }))
  }
  const memory = wanted(MEMORY) ? await memoryOf(size.memory, size.memoryRounds, folder) : 'not wanted'
  return { machine, rounds: size.rounds, cases, memory }
}

async function memoryOf(sizes, rounds, folder) {
  const obstacle = memoryObstacle()
  if (obstacle !== undefined) return obstacle
  say('memory')
  const large = []
  for (const events of sizes) large.push(await largeInput(folder, events))
  return measureMemory(large, rounds, folder)
}

/** The given traces, or a generated one and, without `--quick`, the recording from the tests. */
async function usualOr(traces, events, quick, folder) {
  if (traces.length > 0) return Promise.all(traces.map((path, i) => fileInput(folder, path, i)))
  const generated = await generatedInput(folder, events)
  return quick ? [generated] : [generated, await gitInput(folder)]
}

function say(text) {
  console.error(`... ${text}`)
}

function save(results, text) {
  const folder = new URL('results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  const name = resultsName(results)
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(results, null, 1)}\n`)
  writeFileSync(new URL(`${name}.md`, folder), `# Benchmarks, ${results.machine.date}\n\n${text}\n`)
  const readme = new URL('README.md', import.meta.url)
  const latest = `Kept in [\`results/${name}.json\`](results/${name}.json).\n\n${text}`
  writeFileSync(readme, withGenerated(readFileSync(readme, 'utf8'), 'latest', latest))
}

await main()
