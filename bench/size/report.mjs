// The study's results as Markdown: the paper's tables, each with the paper's own rows below.
import { ACTIONS, TIMED } from '../cases/encodings.mjs'
import { table } from '../markdown.mjs'
import { ratio, spread } from '../measure.mjs'
import { ADDRESS_ENCODINGS, ENCODINGS, SIMPLE, SIZE_ENCODINGS, THREAD_ENCODINGS } from './encodings.mjs'
import { ADDRESSES, ENCODED, GZIP_TIMES, SIZES, SUMMARIES, TIMES } from './paper.mjs'

/** @typedef {import('./sizes.mjs').Size} Size */

/**
 * @typedef {object} TraceResult
 * @property {string} name
 * @property {import('./survey.mjs').Survey} survey
 * @property {Size[]} encodings Table 4
 * @property {Size[]} sizes Table 7
 * @property {Size[]} addresses Table 8
 * @property {Size[]} threads with thread ids; empty for traces of one thread
 * @property {import('../measure.mjs').Timing[]} timings of the encodings on the first events
 */

/**
 * @typedef {object} StudyResults
 * @property {import('../machine.mjs').Machine} machine
 * @property {number} rounds
 * @property {number} timedEvents how many events of each trace the times are about, at most
 * @property {{ name: string, version: string }[]} compressors
 * @property {TraceResult[]} traces
 */

/**
 * @param {StudyResults} results
 * @returns {string} Markdown without a title
 */
export function studyReport({ machine, rounds, timedEvents, compressors, traces }) {
  const versions = compressors.map(({ name, version }) => `${name.split(' ')[0]} ${version}`).join(', ')
  const simple = traces.map(({ name, survey: { widths } }) => `${4 + widths.size + 2 * widths.address} (${name})`)
  const [readTimes, gzipTimes] = [ACTIONS.slice(0, 2), ACTIONS.slice(2)]
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.system}, Node ${machine.node}, whose node:zlib is "gzip" below` +
      `${versions && `; commands ${versions}`}; ${machine.date}` +
      `${machine.commit && `, revision ${machine.commit}`}; load ${machine.load} at the start.`,
    '### Table 3: the traces\n\nObjects and bytes are in thousands, the mean in bytes. Data records are what all other tables count.',
    summaryTable(traces),
    `### Table 4: bytes per data record, plain / gzip -6\n\nBytes of a record of Simple Binary: ${simple.join(', ')}.`,
    sizeTable(traces, ENCODINGS, (trace) => trace.encodings, ENCODED),
    '### Tables 5 and 6: time per data record\n\n' +
      `Read / write, as multiples of Simple Binary in the same round; medians of ${rounds} rounds on the first ${timedEvents} events at most, ` +
      'in memory. In the column of Simple Binary: nanoseconds (the paper: microseconds, with files).\n\nTable 5, plain:',
    timeTable(traces, readTimes, TIMES),
    'Table 6, with gzip -6:',
    timeTable(traces, gzipTimes, GZIP_TIMES),
    '### Table 7: size encodings, plain / gzip -6\n\nAddresses are stored unchanged.',
    sizeTable(traces, SIZE_ENCODINGS, (trace) => trace.sizes, SIZES),
    '### Table 8: address encodings, plain / gzip -6\n\nSizes are stored unchanged, except in HATF (best).',
    sizeTable(traces, ADDRESS_ENCODINGS, (trace) => trace.addresses, ADDRESSES),
    ...threadSection(traces),
    '### Other compressors',
    compressors.length === 0
      ? 'This machine has none of the commands gzip, zstd and xz.'
      : `Bytes per data record after the commands ${compressors.map(({ name }) => name).join(' / ')}, each stream by itself.`,
    ...(compressors.length === 0 ? [] : [otherTable(traces, compressors)]),
  ].join('\n\n')
}

/** @param {readonly TraceResult[]} traces */
function summaryTable(traces) {
  const rows = traces.map(({ name, survey: { summary, records } }) => {
    const { allocs, reallocs, frees, bytes, maxObjects, maxBytes } = summary
    const thousands = (value, digits = 1) => (value / 1000).toFixed(digits)
    return [
      name, thousands(allocs), thousands(reallocs), thousands(frees), thousands(bytes, 0), thousands(maxObjects, 2), thousands(maxBytes, 0),
      (allocs === 0 ? 0 : bytes / allocs).toFixed(1), thousands(records.all),
    ]
  })
  const head = ['trace', 'allocs', 'reallocs', 'frees', 'bytes', 'max objects', 'max bytes', 'mean size', 'data records']
  // The paper's bytes per record of naive HATF refer to the number of records in its Table 3.
  const theirs = Object.entries(SUMMARIES).map(([name, row]) => [paperRow(name), ...row.map(String), String(row[0] + row[1] + row[2])])
  return table(head, [...rows, ...theirs])
}

function sizeTable(traces, encodings, sizesOf, paper) {
  const rows = traces.map((trace) => {
    const sizes = sizesOf(trace)
    return [trace.name, ...sizes.map(({ raw, gzip }) => `${perRecord(raw, trace)} / ${perRecord(gzip, trace)}`)]
  })
  const theirs = Object.entries(paper).map(([name, cells]) => padded([paperRow(name), ...cells], encodings.length + 1))
  return table(['trace', ...encodings.map(({ name }) => name)], [...rows, ...theirs])
}

function threadSection(traces) {
  const threaded = traces.filter(({ threads }) => threads.length > 0)
  if (threaded.length === 0) return []
  return [
    '### With thread ids, plain / gzip -6\n\nThe paper has no traces with threads, so all other tables leave them out.',
    sizeTable(threaded, THREAD_ENCODINGS, (trace) => trace.threads, {}),
  ]
}

function otherTable(traces, compressors) {
  const encodings = ENCODINGS.filter(({ packed }) => packed === undefined)
  const rows = traces.map((trace) => [
    trace.name,
    ...trace.encodings
      .filter(({ name }) => encodings.some((encoding) => encoding.name === name))
      .map(({ others }) => compressors.map(({ name }) => perRecord(others[name], trace)).join(' / ')),
  ])
  return table(['trace', ...encodings.map(({ name }) => name)], rows)
}

/**
 * @param {readonly TraceResult[]} traces
 * @param {readonly string[]} actions what is done to read, and what to write
 * @param {Record<string, number[][]>} paper
 */
function timeTable(traces, actions, paper) {
  const rows = traces.map(({ name, timings }) => [
    name,
    ...TIMED.map((encoding) => actions.map((action) => {
      const base = `${action}, ${SIMPLE}`
      if (encoding.name === SIMPLE) return nanoseconds(timings, base)
      return spread(ratio(timings, base, `${action}, ${encoding.name}`)?.values ?? [Number.NaN]).median.toFixed(2)
    }).join(' / ')),
  ])
  const theirs = Object.entries(paper).map(([name, [simple, ...rest]]) => {
    const cells = rest.map((pair) => pair.map((value, i) => (value / simple[i]).toFixed(2)).join(' / '))
    return padded([paperRow(name), simple.map((us) => `${us.toFixed(2)} us`).join(' / '), ...cells], TIMED.length + 1)
  })
  return table(['trace', ...TIMED.map(({ name }) => name)], [...rows, ...theirs])
}

function nanoseconds(timings, name) {
  const { seconds, events } = timings.find((timing) => timing.name === name)
  return `${((spread(seconds).median / events) * 1e9).toFixed(0)} ns`
}

/** @param {number} bytes @param {TraceResult} trace */
function perRecord(bytes, { survey: { records } }) {
  return (bytes / records.all).toFixed(2)
}

function paperRow(name) {
  return `paper: ${name}`
}

/** Encodings that the paper does not have get empty cells. */
function padded(cells, length) {
  return [...cells, ...Array.from({ length: length - cells.length }, () => '')]
}
