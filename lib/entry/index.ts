/**
 * heapflow: stream transforms for heap-allocation traces.
 *
 * @example
 * await pipeline(createReadStream('t.mtrc'), mtrc.decode(), filter({ thread: 3n }), hatf.encode(),
 * createWriteStream('t.hatf'))
 */
import type { Transform } from 'node:stream'
import { transformStream } from '../streams/stage.js'
import { Filter, type FilterOptions } from '../transforms/filter.js'
import { Mapper, type MapOptions } from '../transforms/map.js'

export * as glibcMtrace from './glibc-mtrace.js'
export * as hatf from './hatf.js'
export * as hatfAscii from './hatf-ascii.js'
export * as heapmon from './heapmon.js'
export * as kmemtrace from './kmemtrace.js'
export * as mtrc from './mtrc.js'
export * as ndjson from './ndjson.js'
export * as replay from './replay.js'
export * as tracepoints from './tracepoints.js'
export * as valgrind from './valgrind.js'

/** Keeps some of the events: a Transform of `EventBatch` objects. @throws RangeError on options that make no sense */
export function filter(options: FilterOptions): Transform {
  return transformStream(new Filter(options), { name: 'filter()' })
}

/** Changes events: a Transform of `EventBatch` objects. @throws RangeError on options that make no sense */
export function map(options: MapOptions): Transform {
  return transformStream(new Mapper(options), { name: 'map()' })
}

export { HI, LO } from '../bytes/u64.js'
export {
  BATCH_EVENTS,
  BATCH_STRING_BYTES,
  batchesOf,
  EventBatch,
  reviseBatch,
  U64Column,
  type TraceEvent,
  type U64FieldName,
} from '../event/batch.js'
export { gatherRows } from '../event/gather.js'
export { chain, type ChainOptions } from '../event/chain.js'
export { recycle } from '../event/recycle.js'
export { selectRows } from '../kernel/select.js'
export {
  limit,
  malformed,
  TraceError,
  truncated,
  unencodable,
  type TraceErrorCode,
  type TracePosition,
} from '../event/error.js'
export {
  ALL_FIELDS,
  Api,
  APIS,
  fieldNames,
  FIELDS,
  fieldSet,
  Has,
  Kind,
  KINDS,
  Outcome,
  OUTCOMES,
  type ApiName,
  type FieldName,
  type FieldType,
  type KindName,
  type OutcomeName,
} from '../event/fields.js'
export { NO_HEADER, type TimeUnit, type TraceHeader } from '../event/header.js'
export type { Carried } from '../event/losses.js'
export { Losses } from '../kernel/losses.js'
export type { BatchTransform, Decoder, Encoder, Stage } from '../event/stage.js'
export { decodeText, encodeText, StringTable } from '../event/strings.js'
export {
  isWritable,
  type EncodeOptions,
  type Format,
  type FormatTraits,
  type OptionSpec,
  type WritableFormat,
} from '../event/format.js'
export { formatNamed, formatOfPath, FORMATS, sniffFormat, type FormatEntry } from '../formats/index.js'
export { filterFile, type FilterFileOptions } from '../streams/filter-file.js'
export { compose } from '../streams/compose.js'
export { gzip } from '../streams/compress.js'
export type { ReadOptions } from '../streams/counter.js'
export { decodeAny, type DecodeAnyOptions } from '../streams/decode.js'
export { decompress, defaultInflater, type DecompressOptions, type Inflater } from '../streams/decompress.js'
export {
  concatInputs,
  mergeInputs,
  type MergedStream,
  type MergeInput,
  type MergeInputsOptions,
} from '../streams/merge.js'
export { streamPair, type StreamPair } from '../streams/pair.js'
export { sort, type SortOptions } from '../streams/sort.js'
export { openTrace, type OpenOptions, type OpenTrace } from '../streams/io/source.js'
export { SplitFiles, type SplitFilesOptions } from '../streams/split-files.js'
export { decoderStream, encoderStream, transformStream, type StageStreamOptions } from '../streams/stage.js'
export { DescriptorSink, type DescriptorSinkOptions } from '../streams/io/descriptor-sink.js'
export { openInput, openOutput } from '../streams/io/stdio.js'
export { FAULTS, MERGE_WINDOW, PARTITIONS, SORT_MEMORY, type FaultName, type Partition } from '../transforms/choices.js'
export { ORDER_FIELDS, type OrderField } from '../order/order-fields.js'
export { FateSurvey, type Fate, type FateOptions } from '../transforms/fates/survey.js'
export { parseMoment, type Moment } from '../transforms/fates/moment.js'
export { Filter, type FilterOptions, type OneOrMore } from '../transforms/filter.js'
export { compileExpression, type EventFunction } from '../transforms/expression.js'
export { type NamePattern } from '../transforms/predicates/match.js'
export { Mapper, type AnonymiseOptions, type MapOptions } from '../transforms/map.js'
export { BlockEffect } from '../blocks/block-effect.js'
export { LiveSet } from '../blocks/live-set.js'
export { mergeHeaders, Merger, type MergeOptions } from '../transforms/merge.js'
export { Offset, type OffsetOptions } from '../transforms/offset.js'
export { OrderAudit, orderWarnings, type MergeOrder, type OrderStatistics } from '../order/order-audit.js'
export { parseRange, type Range } from '../transforms/predicates/ranges.js'
export { Partitioner, type Part, type PartitionOptions } from '../transforms/split.js'
export { StatisticsCollector } from '../transforms/statistics/collector.js'
export type {
  Amount,
  ApiFamily,
  FaultCounts,
  HistogramBar,
  HistogramResult,
  Mismatch,
  MpatrolStatistics,
  Overhead,
  Peak,
  ReallocCounts,
  Shares,
  Site,
  SiteStatistics,
  SizeStatistics,
  Statistics,
  Temporary,
  ThreadStatistics,
  TimelinePart,
  TimeStatistics,
  ValueCount,
} from '../transforms/statistics/result.js'
export { joinTimeline } from '../transforms/statistics/timeline.js'
export { Repair, REPAIRS, type RepairName, type RepairOptions } from '../transforms/repair/repair.js'
export { MAX_SIZE, Verifier, type Finding, type VerifyOptions } from '../transforms/verify.js'
