/**
 * heapflow: streams for heap-allocation traces. Formats, transforms of events, and reading of traces; `heapflow/stages`
 * has everything for authors of stages.
 *
 * @example
 * for await (const event of events('app.mtrc.gz')) console.log(event.kind)
 *
 * @example
 * await pipeline(createReadStream('t.mtrc'), mtrc.decode(), filter({ thread: 3n }), hatf.encode(),
 * createWriteStream('t.hatf'))
 */
export {
  arrow,
  compact,
  glibcMtrace,
  hatf,
  hatfAscii,
  heapmon,
  heaptrack,
  kmemtrace,
  mtrc,
  ndjson,
  parquet,
  recorder,
  replay,
  tracepoints,
  ltrace,
  valgrind,
} from './formats.js'
export type { ReadOnlyFormat, FormatStreams, TraceFormat } from '../streams/format-streams.js'
export type { EncodeOptions, TextDecodeOptions } from '../event/format.js'
export type { ArrowEncodeOptions } from '../formats/arrow/index.js'
export type { CompactEncodeOptions } from '../formats/compact/index.js'
export type { HatfDecodeOptions, HatfFormatEncodeOptions } from '../formats/hatf/index.js'
export type { HeapmonDecodeOptions, HeapmonEncodeOptions } from '../formats/heapmon/index.js'
export type { HeaptrackEncodeOptions } from '../formats/heaptrack/index.js'
export type { KmemtraceDecodeOptions, KmemtraceEncodeOptions } from '../formats/kmemtrace/index.js'
export type { LtraceDecodeOptions } from '../formats/ltrace/index.js'
export type { MtrcDecodeOptions } from '../formats/mtrc/index.js'
export type { ParquetEncodeOptions } from '../formats/parquet/index.js'
export type { TracepointsDecodeOptions } from '../formats/tracepoints/index.js'

export { events, type ReadSourceOptions, type TraceSource } from '../streams/read-source.js'
export { openTrace, type OpenOptions, type OpenTrace, type TraceReader } from '../streams/io/open-trace.js'
export { decodeAny, type DecodeAnyOptions } from '../streams/decode.js'
export { decompress, type DecompressOptions, type Inflater } from '../streams/decompress.js'
export { gzip, zstd, type Compression } from '../streams/compress.js'
export { compose } from '../streams/compose.js'

export {
  filter,
  fromEvents,
  map,
  repair,
  simulate,
  verify,
  type RepairStream,
  type SimulateStream,
  type VerifyResult,
  type VerifyStream,
} from '../streams/transforms.js'
export { cSource } from '../streams/c-source.js'
export type { CSourceOptions } from '../exports/c-source/encode.js'
export { prepareReplay, type PrepareReplayStream } from '../streams/prepare-replay.js'
export type { OrderName } from '../transforms/drive/layout.js'
export type { PrepareOptions } from '../transforms/drive/preparation.js'
export type * from '../transforms/drive/result.js'
export { generate, traceModel, type ModelSink } from '../streams/generate.js'
export type { GenerateOptions } from '../generate/generator.js'
export type { ModelName } from '../generate/models/names.js'
export { checkModel, type ModelKinds, type ModelRows, type TraceModel } from '../generate/trace-model.js'
export { lifetimes, type LifetimeSink } from '../streams/lifetimes.js'
export {
  lifetimeModel,
  type LifetimeModel,
  type ModelSite,
  type ModelSizes,
  type ModelStacks,
  type ModelTop,
} from '../transforms/simulate/lifetimes/model.js'
export { checkLifetimeModel } from '../transforms/simulate/lifetimes/read-model.js'
export { merge, type MergeSourcesOptions } from '../streams/merge-sources.js'
export type { MergedStream } from '../streams/merge.js'
export { sort, type SortOptions } from '../streams/sort.js'
export { symbolize, type SymbolizeOptions } from '../streams/symbolize.js'
export {
  record,
  type RecordedEnding,
  type RecordedProgram,
  type RecordOptions,
  type StandardStream,
} from '../streams/record.js'
export type { RecorderName } from '../streams/record/names.js'
export { RecorderError } from '../streams/record/recorders.js'
export { filterFile, type FilterFileOptions } from '../streams/filter-file.js'
export { split, type PartTarget, type SplitOptions, type SplitSink } from '../streams/split.js'
export { stats, type StatsSink } from '../streams/stats.js'
export { measure, parseBudgets, type MeasureSink } from '../streams/check.js'
export {
  check,
  type CheckedBudget,
  type CheckOptions,
  type CheckResult,
  type Verdict,
} from '../transforms/check/check.js'
export type { Budget, BudgetGroup, Limit } from '../transforms/check/budgets.js'
export type { Measure, Measured, Measures } from '../transforms/check/measure.js'
export type { ChangedSite } from '../transforms/check/sites.js'
export { blocks, blockTable, stackTable, type BlockStreamOptions, type StackTableOptions } from '../streams/blocks.js'
export type { BlockTableOptions } from '../transforms/block-table/block-table.js'
export type { BlockRow, EndingName } from '../transforms/block-table/columns.js'
export type { TableFormatName } from '../exports/tables/formats.js'
export type { TableWriterOptions } from '../exports/tables/index.js'
export { exportProfile, profile, type ProfileSink } from '../streams/profile.js'
export { exportReport, report, type ReportPageOptions, type ReportSink } from '../streams/report.js'
export type { Compared } from '../transforms/report/comparison.js'
export type { Report, ReportDataOptions, ReportLimits } from '../transforms/report/report.js'
export type * from '../transforms/report/result.js'
export {
  compareProfiles,
  type ComparedFigures,
  type ComparedStack,
  type ProfileDifference,
  type ProfileMatch,
} from '../transforms/profile/difference.js'
export type { ProfileFormatName } from '../exports/profile-formats.js'
export type { ExportOptions } from '../exports/writer.js'
export type { Frame, Profile, ProfileMoment, ProfileOptions, Sample, StackTree } from '../transforms/profile/profile.js'
export type { ProfileValue } from '../transforms/profile/values.js'
export type { ByteStream, EventReadable, EventStream, StreamEvents } from '../streams/types.js'
export { parseRange, type Range } from '../transforms/predicates/ranges.js'
export type { NamePattern } from '../transforms/predicates/match.js'
export type { BudgetFigure, FaultName, Partition, TemporaryDefinition } from '../transforms/option-values.js'
export type { OrderField } from '../order/order-fields.js'
export type { MergeOrder } from '../order/order-check.js'
export type { EventFunction } from '../transforms/expression.js'
export type { FilterOptions, OneOrMore } from '../transforms/filter.js'
export type { FateOptions } from '../transforms/fates/survey.js'
export type { Moment } from '../transforms/fates/moment.js'
export type { AnonymizeOptions, MapOptions } from '../transforms/map.js'
export type { RepairName, RepairOptions } from '../transforms/repair/repair.js'
export type {
  LifetimeOptions,
  LifetimePredictor,
  LifetimeTraining,
  ShortLivedSite,
} from '../transforms/simulate/lifetimes/predictor.js'
export type { SiteSize } from '../transforms/simulate/lifetimes/kinds.js'
export type {
  GeneralPolicy,
  PolicyName,
  PredictionSettings,
  SimulateOptions,
  SimulateSettings,
} from '../transforms/simulate/policies.js'
export type * from '../transforms/simulate/result.js'
export type * from '../transforms/statistics/result.js'
export type { Finding, VerifyOptions } from '../transforms/verify.js'

export { batchesOf, EventBatch } from '../event/batch.js'
export { eventToJson } from '../event/event-json.js'
export { TraceError, type TraceErrorCode, type TracePosition } from '../event/error.js'
export type { ApiName, FieldName, KindName, OutcomeName } from '../event/fields.js'
export type { TimeUnit, TraceHeader, TracePart } from '../event/header.js'
export type { FieldValue } from '../event/json.js'
export type {
  AllocEvent,
  CommentEvent,
  EventFields,
  FreeEvent,
  HeapEvent,
  LostEvent,
  OtherEvent,
  ReallocEvent,
  ReserveEvent,
  ProcessEvent,
  ThreadEvent,
  TraceEvent,
} from '../event/trace-event.js'
