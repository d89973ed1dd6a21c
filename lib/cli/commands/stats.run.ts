import { isatty } from 'node:tty'
import { gzip } from '../../streams/compress.js'
import { decodeAny } from '../../streams/decode.js'
import { isSameFile, openOutput } from '../../streams/io/stdio.js'
import type { EventBatch } from '../../event/batch.js'
import type { Stage } from '../../event/stage.js'
import type { Statistics } from '../../transforms/statistics/result.js'
import { UsageError, wholeNumber, type Arguments } from '../command.js'
import { TOP } from '../defaults.js'
import { inputOperand, runStreams } from '../pipeline.js'
import { EventTable } from '../report/event-table.js'
import { jsonText } from '../report/json.js'
import { moreTraces, mpatrolText } from '../report/mpatrol.js'
import { StatisticsReport } from '../report/statistics-report.js'
import { reportText } from '../report/text.js'

const FORMS = ['json', 'mpatrol', 'table'] as const

/** Runs `hf-stats`. @throws UsageError */
export async function runStats(args: Arguments): Promise<void> {
  const stage = reportStage(args)
  const input = inputOperand(args)
  const output = args.value('output') ?? '-'
  const compressed = args.has('gzip') || output.endsWith('.gz')
  if (compressed && output === '-' && isatty(1))
    throw new UsageError('binary output is not for a terminal: use -o FILE or a pipe')
  if (isSameFile(input, output)) throw new UsageError(`${output} is the input too: write to another file`)
  await runStreams(
    'hf-stats',
    input,
    [decodeAny({ path: input, recycle: true, through: stage }), ...(compressed ? [gzip()] : [])],
    () => openOutput(output, { blocking: true }),
  )
}

/** The stage that makes the report that the flags ask for. @throws UsageError */
function reportStage(args: Arguments): Stage<EventBatch, Uint8Array> {
  const forms = FORMS.filter((form) => args.has(form))
  if (forms.length > 1)
    throw new UsageError(`one form at a time, not ${forms.map((form) => `--${form}`).join(' and ')}`)
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
    args.has('json')
      ? jsonText(top === undefined ? statistics : cutTables(statistics, top))
      : reportText(statistics, top ?? TOP)
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
