/**
 * heapflow without Node: reads traces of any format in a browser or a worker, and takes statistics, profiles and
 * reports of them. The stages are those that the streams and commands are made of.
 *
 * @example
 * import { readTrace, StatisticsCollector } from 'heapflow/browser'
 * const collector = new StatisticsCollector()
 * for await (const batch of readTrace(file)) collector.add(batch)
 * const { peakBytes } = collector.finish()
 */
export { readTrace, type BrowserSource, type ReadTraceOptions } from './read-trace.js'
export { StatisticsCollector, type CollectorOptions } from '../lib/transforms/statistics/collector.js'
export type * from '../lib/transforms/statistics/result.js'
export { ProfileCollector } from '../lib/transforms/profile/collector.js'
export type {
  Frame,
  Profile,
  ProfileMoment,
  ProfileOptions,
  Sample,
  StackTree,
} from '../lib/transforms/profile/profile.js'
export { ReportCollector } from '../lib/transforms/report/collector.js'
export type { Report, ReportDataOptions, ReportLimits } from '../lib/transforms/report/report.js'
export type * from '../lib/transforms/report/result.js'
export { FORMATS, type FormatEntry } from '../lib/formats/index.js'
export type { Format } from '../lib/event/format.js'
export { EventBatch } from '../lib/event/batch.js'
export { TraceError, type TraceErrorCode, type TracePosition } from '../lib/event/error.js'
export type { TraceHeader } from '../lib/event/header.js'
export type { TraceEvent } from '../lib/event/trace-event.js'
