import type { ApiName, FieldName, GroupFieldName, OutcomeName } from './fields.js'
import type { FieldValue } from './json.js'

/** Every field that an event can have besides its kind. Absent is not the same as zero. */
export interface EventFields {
  /** The function that was called. */
  api?: ApiName
  process?: bigint
  thread?: bigint
  cpu?: number
  /** NUMA node or, in kmemtrace, target CPU. */
  node?: number
  /** kmemtrace's sequence number, which wraps. */
  sequence?: number
  /** In the header's unit. */
  time?: bigint
  /** When the call returned, in the header's unit. */
  endTime?: bigint
  heap?: bigint
  /** mpatrol's allocation index. */
  index?: bigint
  address?: bigint
  /** The block that a realloc was given. */
  oldAddress?: bigint
  /** Bytes requested in all. */
  size?: bigint
  /** calloc's number of elements, of `size / count` bytes each. */
  count?: bigint
  /**
   * calloc's bytes per element, only if `size / count` does not show it, because count is 0 or the product overflowed.
   */
  elementSize?: bigint
  /** memalign's alignment in bytes. */
  alignment?: bigint
  /** Bytes really allocated (kmemtrace's bytes_alloc). */
  usable?: bigint
  /** Resident bytes of the block when it was freed (memory_replay), or of the process (heaptrack). */
  present?: bigint
  gfpFlags?: number
  callSite?: bigint
  /** The outcome of a realloc. */
  outcome?: OutcomeName
  function?: string
  file?: string
  line?: number
  /** C++ type of the block; "internal" on mpatrol's own reservations. */
  type?: string
  /** Innermost frame first: a function's name, or a text that `parseFrame` reads. */
  stack?: string[]
  /** A comment's text. */
  text?: string
  /** HATF's attributes, or other bytes carried along. */
  attributes?: Uint8Array
  /** The format's own number for a kind of event that the model does not have. */
  code?: number
  /** Values without a field in the model, by their names in the format's own definition (Meta-TF). */
  fields?: Readonly<Record<string, FieldValue>>
  /** The program or library that the call came from; `callSite` may be an offset in it. */
  module?: string
  /** The number of events that a sampled event stands for. Without it, for itself alone. */
  weight?: bigint
  /** The number of the GPU; -1 for the host. */
  device?: number
  /** The stream of the GPU in whose order the memory is used and freed. */
  stream?: bigint
  /** The name of the allocator that has the block, or of its arena, pool or zone. */
  arena?: string
}

/** Fields that an event of any kind may have: its thread, time and origin. */
type Origin =
  | 'api'
  | 'process'
  | 'thread'
  | 'cpu'
  | 'sequence'
  | 'time'
  | 'endTime'
  | 'function'
  | 'file'
  | 'line'
  | 'stack'
  | 'attributes'
  | 'code'
  | 'fields'
  | 'module'

/** Fields of events about memory. */
type Memory = 'heap' | 'index' | 'address' | 'size' | 'type' | 'callSite' | GroupFieldName

/** Fields of events that request memory. */
type Request = 'count' | 'elementSize' | 'alignment' | 'usable' | 'node' | 'gfpFlags'

/** Some of the fields. The others can be read, and are undefined; an object literal that sets one does not compile. */
type Having<Names extends FieldName> = Pick<EventFields, Names> & {
  [Name in Exclude<FieldName, Names>]?: undefined
}

/** A block is allocated, or (`existing`) was on the heap before recording began. */
export interface AllocEvent extends Having<Origin | Memory | Request> {
  kind: 'alloc' | 'existing'
}

/** A block is freed. Few formats record its size. */
export interface FreeEvent extends Having<Origin | Memory | 'present'> {
  kind: 'free'
}

/** A block is reallocated: `oldAddress` is the old block, and `address` the returned one. */
export interface ReallocEvent extends Having<Origin | Memory | Request | 'oldAddress' | 'outcome' | 'present'> {
  kind: 'realloc'
}

/** The allocator reserves memory from the system. */
export interface ReserveEvent extends Having<Origin | Memory> {
  kind: 'reserve'
}

/** A heap is made or given up. */
export interface HeapEvent extends Having<Origin | Memory> {
  kind: 'heap-create' | 'heap-destroy'
}

/** A thread begins or ends. */
export interface ThreadEvent extends Having<Origin | 'address'> {
  kind: 'thread-create' | 'thread-destroy'
}

/** A process ends, or an exec replaces its program: its live blocks are never freed. */
export interface ProcessEvent extends Having<Origin> {
  kind: 'process-end'
}

/** A remark in the trace. */
export interface CommentEvent extends Having<Origin | 'text'> {
  kind: 'comment'
}

/** The recorder lost events here: `count` of them, or `size` bytes of them. */
export interface LostEvent extends Having<Origin | 'count' | 'size'> {
  kind: 'lost'
}

/** A record of a kind that the model does not have; `code` is its number in the format. */
export interface OtherEvent extends EventFields {
  kind: 'other'
}

/**
 * One event as a plain object, discriminated by `kind`. All other fields are optional, because formats differ in what
 * they record. Addresses, sizes, times and other 64-bit values are bigints.
 */
export type TraceEvent =
  | AllocEvent
  | FreeEvent
  | ReallocEvent
  | ReserveEvent
  | HeapEvent
  | ThreadEvent
  | ProcessEvent
  | CommentEvent
  | LostEvent
  | OtherEvent
