// The cost of starting: user and system processor time, because the wall clock includes waiting for a free core.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandLine, node, quote } from '../commands.mjs'
import { generate } from '../generate.mjs'

/** The number of starts per measurement, because the shell counts hundredths of a second. */
const STARTS = 10

/** Events of a trace of some 20 KB. */
const SMALL_EVENTS = 1400

/** What a small trace goes through. */
const SMALL = [
  'mtrc-decode', 'mtrc-decode -u', 'hf-filter --kind alloc', 'hf-map --drop thread', 'hf-sort', 'hf-verify', 'hf-stats', 'hf-blocks',
  'hf-profile --to collapsed', 'hatf-encode', 'replay-encode', 'compact-encode',
]

export async function tasks() {
  const trace = join(tmpdir(), `heapflow-startup-${process.pid}.mtrc`)
  await generate(trace, SMALL_EVENTS)
  process.once('exit', () => rmSync(trace, { force: true }))
  const task = (name, line) => ({ name, events: 0, bytes: 0, run: () => 0, seconds: () => processorSeconds(line) })
  return [
    task('node -e 0', `${quote(node)} -e 0`),
    task('hf-filter --version', commandLine('hf-filter', '--version')),
    task('heapflow --version', commandLine('heapflow', '--version')),
    task('mtrc-decode --help', commandLine('mtrc-decode', '--help')),
    ...SMALL.map((line) => {
      const [name, ...args] = line.split(' ')
      return task(`${line}, 20 KB`, commandLine(name, [...args, quote(trace)].join(' ')))
    }),
  ]
}

/** The processor time of one run of a command, as counted by the shell that starts it. */
function processorSeconds(line) {
  const script = `i=0; while [ $i -lt ${STARTS} ]; do ${line} > /dev/null 2>&1 || exit 1; i=$((i + 1)); done; times`
  const times = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trim().split('\n').at(-1) ?? ''
  const seconds = [...times.matchAll(/(\d+)m([\d.]+)s/g)].map(([, minutes, rest]) => Number(minutes) * 60 + Number(rest))
  return seconds.reduce((sum, part) => sum + part, 0) / STARTS
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  ['hf-filter --version', 'node -e 0'],
  ['heapflow --version', 'node -e 0'],
  ['mtrc-decode --help', 'node -e 0'],
  ...SMALL.map((line) => [`${line}, 20 KB`, 'node -e 0']),
]

