import { APIS } from '../event/fields.js'
import { showValue } from '../event/message-text.js'
import { columns, formOf, whole, wrong } from '../event/model-checks.js'
import { FINEST } from './codes.js'

/* A model of a trace: the numbers, kinds, times and lifetimes of its allocations; no names. */

/** The version of the form of models. */
export const MODEL_VERSION = 1
/** The names in front of each file of a model. */
export const MODEL_FORMAT = 'heapflow-model'

/** Limits of a model. */
export const MOST_ROWS = 131_072
export const MOST_KINDS = 131_072
export const MOST_PHASES = 1024
export const MOST_MODEL_THREADS = 1024
export const MOST_SITES = 4096
/** Sizes and numbers of allocations are below 2^46, and counts, too. */
export const MOST_VALUE = 2 ** 46 - 1
export const MOST_CODE = 4096
export const MOST_ALIGNMENT = 2 ** 30
/** A file of more bytes is none. */
export const MOST_MODEL_BYTES = 64 << 20

/**
 * The ending of a block: it stays, a realloc ends it, or its own thread frees it; `BY_THREAD` + n: thread n frees it.
 */
export const Ending = { stays: 0, realloc: 1, free: 2 } as const
export const BY_THREAD = 3

/** In place of a function: a realloc that ends another block. A realloc of the null pointer has its own place. */
export const RESIZE = APIS.length

/** A kind of allocation in columns: threads and sites are numbers. */
export interface ModelKinds {
  /** From 1. */
  readonly thread: readonly number[]
  /** From 1; 0 for an unknown one. */
  readonly site: readonly number[]
  /** A place in `APIS`, `RESIZE`, or -1 if it is not known. */
  readonly api: readonly number[]
  /** The smallest size, and how many sizes there are from it on. */
  readonly size: readonly number[]
  readonly sizes: readonly number[]
  /** The alignment of memalign; 0 for the usual one. */
  readonly alignment: readonly number[]
}

/** Blocks of the same phase, kind, lifetime and ending, in columns, sorted by phase. */
export interface ModelRows {
  readonly phase: readonly number[]
  /** A place in the kinds. */
  readonly kind: readonly number[]
  /** The number of allocations during its life, as a code (see `codes.ts`); 0 for blocks that stay. */
  readonly lifetime: readonly number[]
  readonly ending: readonly number[]
  readonly count: readonly number[]
}

/** An anonymous model of a trace: its joint distributions, by phase. */
export interface TraceModel {
  readonly format: typeof MODEL_FORMAT
  readonly version: typeof MODEL_VERSION
  /** The number of allocations of each phase, but the last one. */
  readonly phaseLength: number
  /** The mean time between allocations in each phase, in nanoseconds; empty if the trace has no times. */
  readonly gaps: readonly number[]
  /** The number of bits in the codes of lifetimes. */
  readonly lifetimeBits: number
  readonly threads: number
  readonly sites: number
  readonly kinds: ModelKinds
  readonly rows: ModelRows
}

/** The columns of kinds and rows, each with its least and largest value. */
export const KIND_COLUMNS = {
  thread: [1, MOST_MODEL_THREADS],
  site: [0, MOST_SITES],
  api: [-1, RESIZE],
  size: [0, MOST_VALUE],
  sizes: [1, MOST_VALUE],
  alignment: [0, MOST_ALIGNMENT],
} as const satisfies Record<keyof ModelKinds, readonly [number, number]>
export const ROW_COLUMNS = {
  phase: [0, MOST_PHASES - 1],
  kind: [0, MOST_KINDS - 1],
  lifetime: [0, MOST_CODE],
  ending: [0, BY_THREAD + MOST_MODEL_THREADS],
  count: [1, MOST_VALUE],
} as const satisfies Record<keyof ModelRows, readonly [number, number]>
/** The properties that are whole numbers. */
export const MODEL_NUMBERS = {
  phaseLength: [1, MOST_VALUE],
  lifetimeBits: [0, FINEST],
  threads: [1, MOST_MODEL_THREADS],
  sites: [0, MOST_SITES],
} as const

/**
 * Checks what was read as a model.
 * @param value the result of `JSON.parse` for a file
 * @throws TraceError (ERR_TRACE_MALFORMED) for anything that is not a model of this version
 */
export function checkModel(value: unknown): TraceModel {
  const form = { format: MODEL_FORMAT, version: MODEL_VERSION }
  const model = formOf(value, form, ['gaps', 'kinds', 'rows', ...Object.keys(MODEL_NUMBERS)])
  for (const [name, [least, most]] of Object.entries(MODEL_NUMBERS)) whole(name, model[name], least, most)
  const kinds = columns<ModelKinds>('kinds', model['kinds'], KIND_COLUMNS, MOST_KINDS)
  const rows = columns<ModelRows>('rows', model['rows'], ROW_COLUMNS, 2 * MOST_ROWS)
  const { gaps } = model
  if (!Array.isArray(gaps) || gaps.length > MOST_PHASES) throw wrong(`gaps must be at most ${MOST_PHASES} numbers`)
  for (const gap of gaps as unknown[])
    if (typeof gap !== 'number' || !(gap >= 0 && gap <= MOST_VALUE)) throw wrong(`no gap is ${showValue(gap)}`)
  const { threads, sites } = model as object as TraceModel
  for (let kind = 0; kind < kinds.thread.length; kind++) {
    if (kinds.thread[kind] > threads) throw wrong(`kinds: there are ${threads} threads`)
    if (kinds.site[kind] > sites) throw wrong(`kinds: there are ${sites} sites`)
    const alignment = kinds.alignment[kind]
    if (alignment !== 0 && !Number.isInteger(Math.log2(alignment))) throw wrong(`no alignment is ${alignment}`)
  }
  let before = 0
  for (let row = 0; row < rows.phase.length; row++) {
    if (rows.phase[row] < before) throw wrong('rows: they must be in the order of their phases')
    before = rows.phase[row]
    if (rows.kind[row] >= kinds.thread.length) throw wrong(`rows: there are ${kinds.thread.length} kinds`)
    if (rows.ending[row] >= BY_THREAD + threads + 1) throw wrong(`rows: there are ${threads} threads`)
  }
  return model as object as TraceModel
}
