// Commands as users run them: processes joined by pipes, including their start-up.
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { commandLine, node, quote, toNothing } from '../commands.mjs'
import { TUNED } from '../native/tasks.mjs'
import { gunzipProcess, hasGunzip } from '../yardsticks.mjs'

/** One of the threads of a generated trace, with an eighth of its allocations. */
const THREAD = 3

const WHOLE = 'mtrc-decode | hf-filter | hatf-encode'
const COLUMNS = 'mtrc-decode -u | hf-filter -u | hatf-encode'
const THREADS = `mtrc-decode | hf-filter --thread ${THREAD} | hatf-encode`
const PROFILE = 'hf-profile --to pprof'
const REPORT = 'hf-report'
const ONE_PROCESS = 'hf-filter --to hatf'
const CONVERT = 'hf-convert t.mtrc t.hatf'
const CONVERT_NAIVE = `${CONVERT} --preset naive`
const CONVERT_GZIP = 'hf-convert t.mtrc.gz t.hatf'
const CONVERT_TUNED = `MTRC to HATF, ${TUNED}`
const GUNZIP = 'gunzip -c'

/** @param {import('../inputs.mjs').Large} large */
export function tasks({ events, files, native }) {
  const bytes = statSync(files.mtrc).size
  const trace = quote(files.mtrc)
  const target = `${files.mtrc}.converted.hatf`
  const shell = (name, line) => ({ name, events, bytes, run: () => toNothing(line) })
  const decode = commandLine('mtrc-decode', trace)
  const encode = commandLine('hatf-encode')
  const convert = (name, source, options = '') => shell(name, commandLine('hf-convert', `${options} ${source} ${quote(target)}`))
  const naive = convert(CONVERT_NAIVE, trace, '--preset naive')
  const tuned = native && shell(CONVERT_TUNED, `${quote(native.converter)} ${trace} ${quote(target)}`)
  if (tuned !== undefined) checkAlike(naive, tuned, target)
  return [
    convert(CONVERT, trace),
    naive,
    ...(tuned ? [tuned] : []),
    convert(CONVERT_GZIP, quote(files.gzip)),
    ...(hasGunzip() ? [{ name: GUNZIP, events, bytes, run: () => gunzipProcess(files.gzip) }] : []),
    shell(WHOLE, `${decode} | ${commandLine('hf-filter')} | ${encode}`),
    shell(COLUMNS, `${commandLine('mtrc-decode', `-u ${trace}`)} | ${commandLine('hf-filter', '-u')} | ${encode}`),
    shell(ONE_PROCESS, commandLine('hf-filter', `--to hatf ${trace}`)),
    shell(THREADS, `${decode} | ${commandLine('hf-filter', `--thread ${THREAD}`)} | ${encode}`),
    shell(`hf-filter --thread ${THREAD} --to hatf`, commandLine('hf-filter', `--thread ${THREAD} --to hatf ${trace}`)),
    shell('mtrc-decode', decode),
    shell(PROFILE, commandLine('hf-profile', `--to pprof ${trace}`)),
    shell(REPORT, commandLine('hf-report', trace)),
    { name: 'node that does nothing', events: 0, bytes: 0, run: () => nothing() },
  ]
}

/** @throws Error when two tasks do not write the same file */
function checkAlike(one, other, target) {
  one.run()
  const expected = readFileSync(target)
  other.run()
  if (!readFileSync(target).equals(expected)) throw new Error(`"${one.name}" and "${other.name}" write different files`)
}

function nothing() {
  execFileSync(node, ['-e', ''])
  return 0
}

/** Pairs of tasks, the second one the yardstick; two yardsticks count together. */
export const ratios = [
  [CONVERT, CONVERT_TUNED],
  [CONVERT_NAIVE, CONVERT_TUNED],
  [CONVERT_GZIP, [GUNZIP, CONVERT]],
  [WHOLE, ONE_PROCESS],
  [COLUMNS, ONE_PROCESS],
  [CONVERT, GUNZIP],
  [WHOLE, GUNZIP],
  [THREADS, GUNZIP],
  [CONVERT, WHOLE],
]

