/**
 * Writes a digest of what each command makes of each trace: `node scripts/outputs.mjs [--dist DIR] [--every N]
 * FOLDER...`. A line has the exit status, the SHA-256 of standard output and of standard error, the command and the
 * trace. Run it with the builds before and after a change, and compare the lines with `diff`: a change of structure
 * keeps all bytes. `--every 5` runs every fifth of them.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** Larger files get only the commands of `FEW`. */
const SMALL = 40_000
const TARGETS =
  'ndjson mtrc hatf hatf-ascii replay kmemtrace glibc-mtrace heaptrack heapmon arrow parquet compact'.split(' ')
const convertTo = (format) => ['convert', '--to', format, ...(format === 'compact' ? ['--fast'] : [])]
const FEW = [convertTo('ndjson'), ['stats', '--json']]
const ALL = [
  ...TARGETS.map(convertTo),
  ['stats'],
  ['stats', '--json'],
  ['verify'],
  ['profile', '--to', 'collapsed'],
  ['blocks'],
  ['filter', '--kind', 'alloc', '--lifetimes'],
  ['map', '--number-threads'],
  ['sort', '--by', 'address'],
  ['simulate', '--policy', 'first-fit'],
]

const { values, positionals } = parseArgs({
  options: {
    dist: { type: 'string', default: fileURLToPath(new URL('../dist', import.meta.url)) },
    every: { type: 'string', default: '1' },
  },
  allowPositionals: true,
})

const files = positionals.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .toSorted(),
)
const jobs = files
  .flatMap((path) => (statSync(path).size <= SMALL ? ALL : FEW).map((command) => ({ path, command })))
  .filter((_, i) => i % Number(values.every) === 0)

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16)
const run = ({ path, command }) =>
  new Promise((resolve) => {
    const options = { encoding: 'buffer', maxBuffer: 2 ** 31 - 1, timeout: 60_000 }
    const child = execFile(
      'node',
      [join(values.dist, 'bin/heapflow.js'), ...command, path],
      options,
      (error, out, err) => {
        const status = error === null ? 0 : (error.code ?? error.signal)
        resolve(`${status} ${digest(out)} ${digest(err)} ${command.join(' ')} ${path}`)
      },
    )
    child.stdin?.end()
  })

const lines = []
let next = 0
const work = async () => {
  while (next < jobs.length) {
    const at = next++
    lines[at] = await run(jobs[at])
  }
}
await Promise.all(cpus().map(work))
process.stdout.write(`${lines.join('\n')}\n`)
