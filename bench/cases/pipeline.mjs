// Commands as people run them: processes joined by pipes, with the start of each of them.
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { commandLine, node, quote, toNothing } from '../commands.mjs'
import { gunzipProcess, hasGunzip } from '../yardsticks.mjs'

/** One of the threads of a generated trace, with an eighth of its allocations. */
const THREAD = 3

const WHOLE = 'mtrc-decode | hf-filter | hatf-encode'
const THREADS = `mtrc-decode | hf-filter --thread ${THREAD} | hatf-encode`

/** @param {import('../inputs.mjs').Large} large */
export function tasks({ events, files }) {
  const bytes = statSync(files.mtrc).size
  const trace = quote(files.mtrc)
  const shell = (name, line) => ({ name, events, bytes, run: () => toNothing(line) })
  const decode = commandLine('mtrc-decode', trace)
  const encode = commandLine('hatf-encode')
  return [
    shell(THREADS, `${decode} | ${commandLine('hf-filter', `--thread ${THREAD}`)} | ${encode}`),
    shell(WHOLE, `${decode} | ${commandLine('hf-filter')} | ${encode}`),
    shell('mtrc-decode', decode),
    shell('hf convert to HATF', commandLine('hf', `convert ${trace} - --to hatf`)),
    shell(`hf-filter --thread ${THREAD} --to hatf`, commandLine('hf-filter', `--thread ${THREAD} --to hatf ${trace}`)),
    { name: 'node that does nothing', events: 0, bytes: 0, run: () => nothing() },
    ...(hasGunzip() ? [{ name: 'gunzip -c', events, bytes, run: () => gunzipProcess(files.gzip) }] : []),
  ]
}

function nothing() {
  execFileSync(node, ['-e', ''])
  return 0
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  [THREADS, 'gunzip -c'],
  [WHOLE, 'gunzip -c'],
  ['hf convert to HATF', 'gunzip -c'],
  ['hf convert to HATF', WHOLE],
]

/** This case wants the large trace. */
export const large = true
