// The cost of starting: user and system processor time, because the wall clock includes waiting for a free core.
import { execFileSync } from 'node:child_process'
import { commandLine, node, quote } from '../commands.mjs'

/** The number of starts per measurement, because the shell counts hundredths of a second. */
const STARTS = 10

export function tasks() {
  const task = (name, line) => ({ name, events: 0, bytes: 0, run: () => 0, seconds: () => processorSeconds(line) })
  return [
    task('node -e 0', `${quote(node)} -e 0`),
    task('hf-filter --version', commandLine('hf-filter', '--version')),
    task('heapflow --version', commandLine('heapflow', '--version')),
    task('mtrc-decode --help', commandLine('mtrc-decode', '--help')),
  ]
}

/** The processor time of one run of a command, as counted by the shell that starts it. */
function processorSeconds(line) {
  const script = `i=0; while [ $i -lt ${STARTS} ]; do ${line} > /dev/null; i=$((i + 1)); done; times`
  const times = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trim().split('\n').at(-1) ?? ''
  const seconds = [...times.matchAll(/(\d+)m([\d.]+)s/g)].map(([, minutes, rest]) => Number(minutes) * 60 + Number(rest))
  return seconds.reduce((sum, part) => sum + part, 0) / STARTS
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  ['hf-filter --version', 'node -e 0'],
  ['heapflow --version', 'node -e 0'],
  ['mtrc-decode --help', 'node -e 0'],
]

