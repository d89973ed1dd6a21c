// The size study: prints the tables of section 3 of the HATF paper for the given traces; see docs/size-study.md. Needs
// a current build, which `npm run bench:size` makes.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runCase } from '../fork.mjs'
import { describeMachine, shortName } from '../machine.mjs'
import { withGenerated } from '../markdown.mjs'
import { otherCompressors } from './compress.mjs'
import { ADDRESS_ENCODINGS, ENCODINGS, SIZE_ENCODINGS, THREAD_ENCODINGS } from './encodings.mjs'
import { studyReport } from './report.mjs'
import { sizeOf } from './sizes.mjs'
import { survey } from './survey.mjs'

const FULL = { events: 500_000, rounds: 5, warmups: 2 }
const QUICK = { events: 2000, rounds: 1, warmups: 1 }
/** The traces of a quick run without arguments. */
const SHIPPED = [fileURLToPath(new URL('../../test/fixtures/replay/mstress-head.txt.gz', import.meta.url))]

const USAGE = `usage: npm run bench:size -- [--quick] [--save] TRACE...
  --quick  few rounds and events for the times: shows that everything runs; without traces on a shipped one
  --save   keep the results in bench/results and show them in docs/size-study.md
  TRACE    traces of any format, compressed or not`

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: { quick: { type: 'boolean' }, save: { type: 'boolean' }, help: { type: 'boolean' } },
      allowPositionals: true,
    })
    const { quick = false, save = false, help = false } = values
    if (help) throw new Error('')
    if (quick && save) throw new Error('only full runs are kept')
    if (!quick && positionals.length === 0) throw new Error('which traces?')
    return { quick, save, traces: positionals.length === 0 ? SHIPPED : positionals }
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
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-size-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('SIGINT', () => {
    remove()
    process.exit(130)
  })
  try {
    const { rounds, warmups, events } = args.quick ? QUICK : FULL
    const machine = describeMachine()
    const compressors = otherCompressors()
    const traces = []
    for (const path of args.traces) traces.push(await study(path, folder, { rounds, warmups }, events, compressors))
    const results = { machine, rounds, timedEvents: events, compressors, traces }
    const text = studyReport(results)
    console.log(text)
    if (args.save) save(results, text)
  } finally {
    remove()
  }
}

/** @returns {Promise<import('./report.mjs').TraceResult>} */
async function study(path, folder, plan, events, compressors) {
  const name = basename(path).replace(/(\.(txt|mtrc|hatf|jsonl?|gz|zip))+$/, '')
  say(`${name}: survey`)
  const found = await survey(path)
  if (found.records.all === 0) throw new Error(`${path} has no data records`)
  const all = async (encodings, options = {}) => {
    const sizes = []
    for (const encoding of encodings) {
      say(`${name}: ${encoding.name}`)
      sizes.push(await sizeOf(path, encoding, { widths: found.widths, folder, ...options }))
    }
    return sizes
  }
  const encodings = await all(ENCODINGS, { compressors: compressors.map((compressor) => compressor.name) })
  const sizes = await all(SIZE_ENCODINGS)
  const addresses = await all(ADDRESS_ENCODINGS)
  const threads = found.threads > 1 ? await all(THREAD_ENCODINGS, { threads: true }) : []
  say(`${name}: times`)
  const { timings } = await runCase('encodings', name, { path, widths: found.widths, events }, plan)
  return { name, survey: found, encodings, sizes, addresses, threads, timings }
}

function say(text) {
  console.error(`... ${text}`)
}

function save(results, text) {
  const folder = new URL('../results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  const name = `${results.machine.date}-size-${shortName(results.machine)}`
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(results, null, 1)}\n`)
  writeFileSync(new URL(`${name}.md`, folder), `# Size study, ${results.machine.date}\n\n${text.replaceAll('### ', '## ')}\n`)
  const page = new URL('../../docs/size-study.md', import.meta.url)
  const shown = `Kept in [\`bench/results/${name}.json\`](../bench/results/${name}.json).\n\n${text}`
  writeFileSync(page, withGenerated(readFileSync(page, 'utf8'), 'study', shown))
}

await main()
