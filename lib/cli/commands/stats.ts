import { isatty } from 'node:tty'
import { gzip } from '../../streams/compress.js'
import { decodeAny } from '../../streams/decode.js'
import { encoderStream } from '../../streams/stage.js'
import { isSameFile, openOutput } from '../../streams/stdio.js'
import type { EventBatch } from '../../event/batch.js'
import type { Stage } from '../../event/stage.js'
import type { Statistics } from '../../transforms/statistics/result.js'
import { UsageError, wholeNumber, type Arguments, type Command } from '../command.js'
import { inputOperand, OUTPUT_FLAGS, runStreams } from '../pipeline.js'
import { EventTable } from '../report/event-table.js'
import { jsonText } from '../report/json.js'
import { moreTraces, mpatrolText } from '../report/mpatrol.js'
import { StatisticsReport } from '../report/statistics-report.js'
import { reportText } from '../report/text.js'

const FORMS = ['json', 'mpatrol', 'table'] as const
const TOP = 10

export const stats: Command = {
  name: 'hf-stats',
  summary: 'tell what is in a trace: totals, peaks, sizes, lifetimes, leaks',
  operands: '[FILE]',
  description:
    'In one pass: events by kind, function and thread; blocks and bytes allocated, freed, and live at the end; when the most was live; sizes and lifetimes by powers of two; blocks ' +
    'freed at once; frees of unknown blocks and what else is out of the ordinary; and by site, what was allocated, leaked and, where the trace tells, wasted. ' +
    'What each figure means: docs/statistics.md.\n' +
    "With --mpatrol or --table the output is that of mpatrol's own trace reader, for traces of any format: its statistics, or its table of events with them.\n" +
    'Several traces in one input are taken together, though no block outlives its trace, but for --mpatrol and --table, which show the first unless --trace says which.\n' +
    'Of an input that breaks off, the statistics of what was read are written before the error is told.',
  memory: 'grows with the live blocks (100 to 200 bytes each), and with distinct sites, sizes and threads, up to 65536 of each (some MB).',
  flags: [
    { name: 'top', value: 'N', help: `Show at most N sites, sizes and threads (default ${TOP}; with --json all)` },
    { name: 'json', help: 'Write the statistics as JSON' },
    { name: 'mpatrol', help: "Write mpatrol's statistics only, in its words" },
    { name: 'table', help: "Write the table of events as mpatrol's reader does" },
    { name: 'sources', help: 'With --table: tell thread, function, file and line of each event' },
    { name: 'trace', value: 'N', help: 'Take only the trace number N of an input that has several' },
    ...OUTPUT_FLAGS,
  ],
  examples: [
    { command: 'hf-stats --top 5 dump.zip', means: 'the statistics of an Android dump' },
    { command: "hf-stats --json app.mtrc | jq '.sites[] | select(.leaked.blocks > 0)'", means: 'where leaks come from' },
    { command: 'hf-stats --table --sources app.mtrc | less', means: "every event, as in mpatrol's own listing" },
  ],
  async run(args) {
    const stage = reportStage(args)
    const input = inputOperand(args)
    const output = args.value('output') ?? '-'
    const compressed = args.has('gzip') || output.endsWith('.gz')
    if (compressed && output === '-' && isatty(1)) throw new UsageError('binary output is not for a terminal: use -o FILE or a pipe')
    if (isSameFile(input, output)) throw new UsageError(`${output} is the input too: write to another file`)
    await runStreams('hf-stats', input, [decodeAny(), encoderStream(stage), ...(compressed ? [gzip()] : [])], () => openOutput(output))
  },
}

/** The stage that makes the report that the flags ask for. @throws UsageError */
function reportStage(args: Arguments): Stage<EventBatch, Uint8Array> {
  const forms = FORMS.filter((form) => args.has(form))
  if (forms.length > 1) throw new UsageError(`one form at a time, not ${forms.map((form) => `--${form}`).join(' and ')}`)
  if (args.has('sources') && !args.has('table')) throw new UsageError('--sources needs --table')
  const given = (flag: string) => (args.has(flag) ? wholeNumber(flag, args.value(flag) as string) : undefined)
  const top = given('top')
  const trace = given('trace')
  if (trace === 0) throw new UsageError('--trace counts from 1')
  if (args.has('table')) return new EventTable({ sources: args.has('sources'), ...(trace !== undefined && { trace }) })
  if (args.has('mpatrol')) {
    return new StatisticsReport({
      print: ({ mpatrol }) => mpatrolText(mpatrol),
      trace: trace ?? 1,
      ...(trace === undefined && { warnOfMore: moreTraces }),
    })
  }
  const print = (statistics: Statistics) =>
    args.has('json') ? jsonText(top === undefined ? statistics : cutTables(statistics, top)) : reportText(statistics, top ?? TOP)
  return new StatisticsReport({ print, ...(trace !== undefined && { trace }) })
}

/** The statistics with at most so many rows of each table. */
function cutTables(statistics: Statistics, top: number): Statistics {
  const { sizes, sites, threads, processes, cpus } = statistics
  return {
    ...statistics,
    sizes: { ...sizes, exact: sizes.exact.slice(0, top) },
    sites: sites.slice(0, top),
    threads: threads.slice(0, top),
    processes: processes.slice(0, top),
    cpus: cpus.slice(0, top),
  }
}
