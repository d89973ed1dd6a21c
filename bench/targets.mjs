// The performance targets of the toolkit, and the results of a run.
import { table } from './markdown.mjs'
import { spread } from './measure.mjs'
import { TUNED } from './native/tasks.mjs'

const PARSE = 'split2 and JSON.parse'
const CONVERT = 'hf-convert t.mtrc t.hatf'
const PROFILE = 'hf-profile --to pprof'
const REPORT = 'hf-report'
const WHOLE = 'mtrc-decode | hf-filter | hatf-encode'
const COLUMNS = 'mtrc-decode -u | hf-filter -u | hatf-encode'

/**
 * @typedef {object} Wanted one way to reach a target
 * @property {string} of the task
 * @property {string} [over] its yardstick; without one the task has a rate of its own
 * @property {number} [atLeast] how many times as fast as the yardstick
 * @property {number} [atMost] how many times the yardstick's time
 * @property {number} [rate] million events/s
 */

/**
 * Targets of the cases: any of the ways reaches one.
 * @type {{ what: string, case: string, ways: Wanted[] }[]}
 */
const TARGETS = [
  ...[['MTRC', 'mtrc'], ['memory_replay', 'replay'], ['HATF', 'hatf'], ['kmemtrace', 'kmemtrace']].flatMap(([title, name]) => [
    native(`decode ${title}`, name, 'decode', 0.5),
    native(`encode ${title}${name === 'hatf' ? ', naive' : ''}`, name, name === 'hatf' ? 'encode, naive' : 'encode', 0.4),
  ]),
  { what: "glibc's mtrace, lines", case: 'recorders', ways: [{ of: 'glibc-mtrace', rate: 10 }] },
  ...['tracepoints', 'valgrind', 'ltrace'].map((name) => ({ what: `${name}, lines`, case: 'recorders', ways: [{ of: name, rate: 4 }] })),
  native('decode HATF, naive', 'hatf', 'decode, naive', 0.5),
  ...['decode', 'encode'].flatMap((direction) => [
    native(`${direction} NDJSON`, 'ndjson', direction, 0.4),
    { what: `${direction} NDJSON`, case: 'ndjson', ways: [{ of: direction, over: PARSE, atLeast: 8 }] },
  ]),
  { what: CONVERT, case: 'pipeline', ways: [{ of: CONVERT, rate: 4 }, { of: CONVERT, over: `MTRC to HATF, ${TUNED}`, atLeast: 0.3 }] },
  { what: PROFILE, case: 'pipeline', ways: [{ of: PROFILE, rate: 2 }] },
  { what: REPORT, case: 'pipeline', ways: [{ of: REPORT, rate: 1 }] },
  { what: WHOLE, case: 'pipeline', ways: [{ of: WHOLE, rate: 3 }] },
  { what: WHOLE, case: 'pipeline', ways: [{ of: WHOLE, over: 'hf-filter --to hatf', atMost: 4 }] },
  { what: COLUMNS, case: 'pipeline', ways: [{ of: COLUMNS, rate: 4 }] },
  { what: COLUMNS, case: 'pipeline', ways: [{ of: COLUMNS, over: 'hf-filter --to hatf', atMost: 2 }] },
  {
    what: 'hf-convert t.mtrc.gz t.hatf',
    case: 'pipeline',
    ways: [{ of: 'hf-convert t.mtrc.gz t.hatf', over: `gunzip -c and ${CONVERT}`, atMost: 1.5 }],
  },
  { what: 'hf-filter --version, processor time', case: 'startup', ways: [{ of: 'hf-filter --version', over: 'node -e 0', atMost: 2 }] },
]

/** The maximum memory of a command, and its maximum growth with the trace. */
const MEMORY = { mebibytes: 130e6 / 2 ** 20, growth: 1.1 }

function native(what, name, task, atLeast) {
  return { what, case: name, ways: [{ of: task, over: `${task}, ${TUNED}`, atLeast }] }
}

/**
 * The targets that a run has measured, as Markdown.
 * @param {import('./report.mjs').Results} results
 */
export function targetTable({ cases, memory }) {
  const rows = TARGETS.flatMap((target) =>
    cases.filter(({ name }) => name === target.case).flatMap((result) => {
      const ways = target.ways.map((way) => outcome(way, result)).filter((way) => way !== undefined)
      if (ways.length === 0) return []
      const met = ways.some(({ by }) => by >= 1)
      return ways.map(({ wanted, measured, by }) => [target.what, result.input, wanted, measured, verdict(by, met)])
    }),
  )
  rows.push(...(typeof memory === 'string' ? [] : memoryRows(memory)))
  return rows.length === 0 ? 'No targets.' : table(['target', 'trace', 'wanted', 'measured', ''], rows, 3)
}

/** The target, the measured value and their ratio; nothing if it was not measured. */
function outcome({ of, over, atLeast, atMost, rate }, { timings, ratios }) {
  if (over === undefined) {
    const timing = timings.find(({ name }) => name === of)
    if (timing === undefined || rate === undefined) return undefined
    const { median } = spread(timing.seconds.map((seconds) => timing.events / seconds / 1e6))
    return { wanted: `${rate} million events/s`, measured: median.toFixed(2), by: median / rate }
  }
  const found = ratios.find((ratio) => ratio.of === of && ratio.over === over)
  if (found === undefined) return undefined
  const { median } = spread(found.values)
  if (atMost !== undefined) return { wanted: `at most ${atMost} times the time of ${over}`, measured: (1 / median).toFixed(2), by: median * atMost }
  return { wanted: `${atLeast} times as fast as ${over}`, measured: median.toFixed(2), by: median / (atLeast ?? 1) }
}

/** The commands that exceed the memory target, or one line for all. */
function memoryRows(memory) {
  const wanted = `at most ${Math.floor(MEMORY.mebibytes)} MiB, and flat within ${Math.round((MEMORY.growth - 1) * 100)} %`
  const measured = memory.map(({ command, peaks }) => {
    const [least, most] = [peaks[0], peaks[peaks.length - 1]].map(({ kibibytes }) => spread(kibibytes).median / 1024)
    return { command, least, most, by: Math.min(MEMORY.mebibytes / most, (MEMORY.growth * least) / most) }
  })
  const { events } = memory[0].peaks[memory[0].peaks.length - 1]
  const trace = `${events / 1e6} million events`
  const missed = measured.filter(({ by }) => by < 1)
  const said = ({ least, most }) => `${least.toFixed(0)} to ${most.toFixed(0)} MiB`
  if (missed.length === 0) {
    const worst = measured.reduce((a, b) => (a.most > b.most ? a : b))
    return [[`peak memory of ${memory.length} commands`, trace, wanted, `${said(worst)} (${worst.command})`, 'met']]
  }
  return missed.map((one) => [`peak memory of ${one.command}`, trace, wanted, said(one), verdict(one.by, false)])
}

function verdict(by, met) {
  if (by >= 1) return 'met'
  return met ? 'the other is met' : `missed by a factor of ${(1 / by).toFixed(2)}`
}
