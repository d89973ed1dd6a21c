import { gzipSync } from 'node:zlib'
import { sniff } from '../formats/compact/sniff.js'
import { reportPage, type PageOptions } from '../exports/report/page.js'
import { checkOptions, needResult, TEXTS, type NoOptions, type OptionNames } from '../event/options.js'
import { ReportCollector } from '../transforms/report/collector.js'
import type { Report } from '../transforms/report/report.js'
import { readPage } from './read-page.js'
import { CollectingSink, type ResultSink } from './result-sink.js'

/** A sink that collects the data of a report. */
export type ReportSink = ResultSink<Report>

export interface ReportPageOptions extends Pick<
  PageOptions,
  'name' | 'isFile' | 'compared' | 'view' | 'generator' | 'omitted'
> {
  /** The trace in the compact format, from which the page recomputes its views. */
  readonly trace?: Uint8Array
}

const OPTIONS: OptionNames<ReportPageOptions> = {
  name: 'string',
  isFile: 'boolean',
  compared: true,
  view: ['comparison'],
  generator: 'string',
  omitted: TEXTS,
  trace: true,
}

/**
 * A Writable that collects the data of a report from the events written to it. Put it at the end of a pipeline. Memory
 * grows with the number of live blocks, and of distinct stacks.
 *
 * @throws RangeError for options: there are none
 *
 * @example
 * const sink = report()
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), sink)
 * const { summary, sites } = (await sink.result).data()
 */
export function report(options?: NoOptions): ReportSink {
  checkOptions(options, {}, 'report')
  return new CollectingSink('report()', new ReportCollector())
}

/**
 * A report as a page of HTML, which needs no other file and no network, and has at most 5 MB. With the trace in the
 * compact format, which then comes on top, the page can filter it and recompute its views; who has the page, has the
 * trace.
 * @throws RangeError for unknown options, and for a trace in another format
 *
 * @example
 * await writeFile('app.html', exportReport(await sink.result, { name: 'app.mtrc' }))
 */
export function exportReport(taken: Report, options: ReportPageOptions = {}): Uint8Array {
  needResult(taken, 'report', 'data', 'exportReport')
  checkOptions(options, OPTIONS, 'exportReport')
  const { trace, ...others } = options
  if (trace !== undefined && !sniff(trace)) throw new RangeError('exportReport: the trace is not in the compact format')
  return Buffer.concat([...reportPieces(taken, { ...others, ...(trace !== undefined && { trace: [trace] }) })])
}

/**
 * The same in pieces, each of which is made when it is taken. @param options the options of `exportReport`, not checked
 */
export function reportPieces(
  taken: Report,
  options: Omit<PageOptions, 'template' | 'gzip' | 'most'>,
): Generator<Uint8Array> {
  const template = readPage(options.trace === undefined ? 'report' : 'report-trace')
  return reportPage(taken, { ...options, template, gzip: (bytes) => gzipSync(bytes, { level: 9 }) })
}

/** The page that reads traces in the browser, in a worker of its own. */
export function viewerPage(): Uint8Array {
  return Buffer.from(readPage('viewer'))
}
