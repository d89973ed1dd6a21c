// Finds codecs that have become much slower: `npm run bench:check`. It compares the speed of each, relative to a plain
// loop in the same process, with the reference in `reference.json`. Needs `npm run build` before. `--save` replaces the
// reference.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCase } from './fork.mjs'
import { generatedInput } from './inputs.mjs'
import { spread } from './measure.mjs'

const REFERENCE = new URL('reference.json', import.meta.url)
const FORMATS = ['mtrc', 'replay', 'hatf', 'kmemtrace', 'ndjson']
const EVENTS = 100_000
const PLAN = { rounds: 5, warmups: 2 }
/**
 * A codec that is slower than the reference by this factor is a failure; smaller differences may be due to another
 * machine, or a noisy one: codecs wait for memory, and the plain loop does not.
 */
const SLACK = 4

/**
 * The speed of a format's codec relative to the plain loop.
 * @returns {Promise<Record<string, number>>} by task, such as `mtrc decode`
 */
async function measureFormat(format, files) {
  const { ratios } = await runCase('check', format, { format, path: files[format] }, PLAN)
  return Object.fromEntries(ratios.map(({ of, values }) => [`${format} ${of}`, spread(values).median]))
}

/** The names of the tasks that are too slow. */
function slow(measured, reference) {
  return Object.keys(measured).filter((name) => measured[name] * SLACK < (reference[name] ?? 0))
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-check-'))
  try {
    const { files } = await generatedInput(folder, EVENTS)
    const save = process.argv.includes('--save')
    const reference = save ? {} : JSON.parse(readFileSync(REFERENCE, 'utf8'))
    const all = {}
    for (const format of FORMATS) {
      let measured = await measureFormat(format, files)
      if (slow(measured, reference).length > 0) {
        // Measured again, so that a busy moment of the machine does not count.
        const again = await measureFormat(format, files)
        measured = Object.fromEntries(Object.keys(again).map((name) => [name, Math.max(again[name], measured[name])]))
      }
      Object.assign(all, measured)
    }
    for (const [name, value] of Object.entries(all)) {
      console.log(`${name.padEnd(18)} ${value.toFixed(3)} of the plain loop, ${(value / (reference[name] ?? value)).toFixed(2)} of the reference`)
    }
    if (save) {
      const rounded = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, Number(value.toPrecision(3))]))
      writeFileSync(REFERENCE, `${JSON.stringify(rounded, null, 2)}\n`)
    }
    const lost = [...new Set([...Object.keys(all), ...Object.keys(reference)])].filter((name) => !(name in all && (save || name in reference)))
    if (lost.length > 0) {
      console.error(`measured or in the reference, but not both: ${lost.join(', ')}`)
      process.exitCode = 1
    }
    const failed = slow(all, reference)
    if (failed.length > 0) {
      console.error(`less than 1/${SLACK} of the reference, twice: ${failed.join(', ')}`)
      process.exitCode = 1
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

await main()
