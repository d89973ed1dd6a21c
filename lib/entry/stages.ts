/**
 * For authors of stages, and programs that work on columns: `heapflow/stages`. It has the columns of batches, the
 * contract of stages and functions that make streams of them, the classes of the streams of `heapflow`, the list of
 * formats, and reading and writing of files. `EventBatch` and `TraceError` are the same as in `heapflow`.
 */
export { HI, LO } from '../bytes/u64.js'
export {
  BATCH_EVENTS,
  BATCH_STRING_BYTES,
  isEventBatch,
  reviseBatch,
  U64Column,
  type U64FieldName,
} from '../event/batch.js'
export { gatherRows } from '../event/gather.js'
export { selectRows } from '../kernel/select.js'
export {
  ALL_FIELDS,
  Api,
  APIS,
  EVERY_FIELD,
  fieldNames,
  FIELDS,
  fieldSet,
  FieldBit,
  GROUP_FIELDS,
  GroupBit,
  groupFieldNames,
  groupFieldSet,
  GROUPS,
  Kind,
  KINDS,
  Outcome,
  OUTCOMES,
  type FieldType,
} from '../event/fields.js'
export { GroupColumns, type GroupColumn } from '../event/groups.js'
export { formatFrame, functionOfFrame, parseFrame, type Frame } from '../event/frame.js'
export { NO_HEADER } from '../event/header.js'
export { decodeText, encodeText, StringTable } from '../event/strings.js'

export type { BatchTransform, Decoder, Encoder, Stage } from '../event/stage.js'
export { chain, type ChainOptions } from '../event/chain.js'
export { recycle } from '../event/recycle.js'
export { limit, malformed, truncated, unencodable } from '../event/error.js'
export { checkOptions, type OptionNames } from '../event/options.js'
export type { Carried } from '../event/losses.js'
export { Losses } from '../kernel/losses.js'
export { decoderStream, encoderStream, transformStream, type StageStreamOptions } from '../streams/stage.js'

export { isWritable, type Format, type FormatInfo, type OptionSpec, type WritableFormat } from '../event/format.js'
export { formatNamed, formatOfPath, FORMATS, sniffFormat, type FormatEntry } from '../formats/index.js'
export { formatStreams } from '../streams/format-streams.js'

export { FAULTS, MAX_SIZE, MERGE_WINDOW, PARTITIONS, SORT_MEMORY } from '../transforms/option-values.js'
export { ORDER_FIELDS } from '../order/order-fields.js'
export { OrderChecker, orderWarnings, type OrderStatistics } from '../order/order-check.js'
export { BlockEffect } from '../blocks/block-effect.js'
export { LiveSet } from '../blocks/live-set.js'
export { compileExpression } from '../transforms/expression.js'
export { FateSurvey, type Fate } from '../transforms/fates/survey.js'
export { parseMoment } from '../transforms/fates/moment.js'
export { Filter } from '../transforms/filter.js'
export { Mapper } from '../transforms/map.js'
export { mergeHeaders, Merger, type MergeOptions } from '../transforms/merge.js'
export { IdOffset, type IdOffsetOptions } from '../transforms/id-offset.js'
export { ProcessNumbers } from '../transforms/process-numbers.js'
export { Partitioner, type Part, type PartitionOptions } from '../transforms/split.js'
export { Repair, REPAIRS } from '../transforms/repair/repair.js'
export { POLICIES } from '../transforms/simulate/policies.js'
export { LifetimeTrainer } from '../transforms/simulate/lifetimes/trainer.js'
export { Simulator } from '../transforms/simulate/simulator.js'
export { Preparation } from '../transforms/drive/preparation.js'
export { ProfileCollector } from '../transforms/profile/collector.js'
export { ownStacks } from '../transforms/profile/own-stacks.js'
export { OwnFrames, type OwnFrameOptions } from '../names/own-frames.js'
export { ReportCollector } from '../transforms/report/collector.js'
export { REPORT_LIMITS } from '../transforms/report/report.js'
export { COMPARED, HEAT_SIDE, heatCell, PROBLEM_KINDS, TREE_METRICS } from '../transforms/report/result.js'
export { joinTimeline } from '../transforms/statistics/timeline.js'
export { BlockTable } from '../transforms/block-table/block-table.js'
export { BLOCK_COLUMNS, BlockRows } from '../transforms/block-table/columns.js'
export { STACK_COLUMNS, StackNumbers, type StackLimits } from '../transforms/block-table/stack-numbers.js'
export type { TableColumn, TableRows, TableType, TableValues } from '../event/table.js'
export { StatisticsCollector } from '../transforms/statistics/collector.js'
export { Verifier } from '../transforms/verify.js'

export {
  AllocatorReplay,
  AllocatorSurvey,
  Prediction,
  PTMALLOC_VERSIONS,
  THREAD_STACK,
  TRIAL_EVENTS,
  type AllocatorReport,
  type AllocatorSettings,
  type JemallocSettings,
  type PtmallocSettings,
} from '../allocators/index.js'

export type { ReadOptions } from '../streams/event-counter.js'
export { defaultInflater } from '../streams/decompress.js'
export { DescriptorSink, type DescriptorSinkOptions } from '../streams/io/descriptor-sink.js'
export { openInput, openOutput } from '../streams/io/stdio.js'
export { concatInputs, mergeInputs, type MergeInput, type MergeInputsOptions } from '../streams/merge.js'
export { SplitFiles, type SplitFilesOptions } from '../streams/split-files.js'
