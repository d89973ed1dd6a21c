// Results as Markdown.
import { shortName } from './machine.mjs'
import { table } from './markdown.mjs'
import { spread } from './measure.mjs'
import { targetTable } from './targets.mjs'

/**
 * @typedef {object} Results
 * @property {import('./machine.mjs').Machine} machine
 * @property {number} rounds
 * @property {import('./case.mjs').CaseResult[]} cases
 * @property {import('./memory.mjs').Memory[] | string} memory or why there is none
 */

/**
 * The name of the result files, without the ending.
 * @param {Results} results
 */
export function resultsName({ machine }) {
  return `${machine.date}-${shortName(machine)}`
}

/**
 * @param {Results} results
 * @returns {string} Markdown without a title
 */
export function report(results) {
  const { machine, rounds, cases, memory } = results
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}, Node ${machine.node}, ` +
      `gzip by ${machine.inflater}; ${machine.date}${machine.commit && `, revision ${machine.commit}`}; ` +
      `load ${machine.load} at the start.\n` +
      `Times: median of ${rounds} rounds, with the smallest and the largest value in brackets.`,
    targetTable(results),
    ...cases.map(caseTable),
    ratioTable(cases),
    typeof memory === 'string' ? `Peak memory was not measured: ${memory}.` : memoryTable(memory),
  ].join('\n\n')
}

/** @param {import('./case.mjs').CaseResult} result */
function caseTable({ name, input, timings }) {
  const rows = timings.map(({ name: task, events, bytes, seconds }) => {
    const perSecond = (amount) => seconds.map((s) => amount / s / 1e6)
    return [task, amounts(perSecond(events)), amounts(perSecond(bytes)), amounts(seconds.map((s) => s * 1000))]
  })
  return table([`${name} (${input})`, 'million events/s', 'MB/s', 'ms'], rows)
}

/** @param {readonly import('./case.mjs').CaseResult[]} cases */
function ratioTable(cases) {
  const rows = cases.flatMap(({ name, input, ratios }) =>
    ratios.map(({ of, over, values }) => [`${name} (${input})`, of, `${amounts(values)} times`, over]),
  )
  return rows.length === 0 ? 'No ratios.' : table(['case', 'this', 'is as fast as', 'this'], rows, 2)
}

/** @param {readonly import('./memory.mjs').Memory[]} memory */
function memoryTable(memory) {
  const traces = memory[0].peaks.map(({ events }) => `MiB, ${events / 1e6} million events`)
  const rows = table(
    ['peak memory', ...traces],
    memory.map(({ command, peaks }) => [command, ...peaks.map(({ kibibytes }) => amounts(kibibytes.map((k) => k / 1024)))]),
  )
  const runs = memory[0].peaks[0].kibibytes.length
  return `Memory: ${runs === 1 ? 'one run each' : `median of ${runs} runs, likewise`}.\n\n${rows}`
}

/** A median with its bounds; nothing for zeros. */
function amounts(values) {
  const { min, median, max } = spread(values)
  if (max === 0) return ''
  return `${digits(median)} (${digits(min)} to ${digits(max)})`
}

function digits(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
