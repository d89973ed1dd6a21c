import { APIS, Api, fieldSet, type ApiName } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Carried, Filling } from '../../event/losses.js'
import { showJson } from '../../event/message-text.js'
import { info } from './info.js'

/** The format's name, in headers and messages. */
export const FORMAT = info.name

/** The first byte of a record: what happened. Other ids may be defined one day; their records are carried along. */
export const EventId = { alloc: 0, free: 1 } as const

/** Every record begins with event id, type id and its own size: 1, 1 and 2 bytes. */
export const HEAD = 4

/** The largest size that a record can say. */
export const MAX_RECORD = 0xffff

/** How the records of a stream are laid out. */
export interface KmemtraceLayout {
  /** That of the machine that recorded. */
  readonly byteOrder: 'little' | 'big'
  /**
   * `relay`: the per-CPU files of ABI version 1, with sequence numbers; `ftrace`: the later records, with CPU and time.
   */
  readonly layout: 'relay' | 'ftrace'
  /** Bytes of call site, pointer and sizes: always 8 in `relay`, a native `long` in `ftrace`. */
  readonly wordSize: 4 | 8
}

/** The layout of new traces. */
export const DEFAULT_LAYOUT: KmemtraceLayout = { byteOrder: 'little', layout: 'relay', wordSize: 8 }

/** Every layout there is, the likelier ones first. */
export const LAYOUTS: readonly KmemtraceLayout[] = [
  DEFAULT_LAYOUT,
  { byteOrder: 'big', layout: 'relay', wordSize: 8 },
  { byteOrder: 'little', layout: 'ftrace', wordSize: 8 },
  { byteOrder: 'big', layout: 'ftrace', wordSize: 8 },
  { byteOrder: 'little', layout: 'ftrace', wordSize: 4 },
  { byteOrder: 'big', layout: 'ftrace', wordSize: 4 },
]

/** The byte at which a record's call site stands. The pointer, and what only allocations have, follow. */
export function callSiteAt({ layout }: KmemtraceLayout): number {
  return layout === 'relay' ? 8 : 16
}

/** How many bytes every record has at least: 24 or 32. As many zero bytes are an all-zero record. */
export function coreSize(layout: KmemtraceLayout): number {
  return callSiteAt(layout) + 2 * layout.wordSize
}

/** Whether all of `bytes[start..end)` is zero. */
export function isZero(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] !== 0) return false
  return true
}

/** How many bytes the record of an allocation has at least: 48, 56 or 40. */
export function allocSize(layout: KmemtraceLayout): number {
  return coreSize(layout) + 2 * layout.wordSize + 8
}

/** The function that a type id stands for, as a code of `Api`: of an allocation, by type. */
export const ALLOC_APIS = Uint8Array.of(Api.kmalloc, Api.kmem_cache_alloc, Api.pages)
/** The same of a free. */
export const FREE_APIS = Uint8Array.of(Api.kfree, Api.kmem_cache_free, Api.pages)
/** How many type ids have a meaning. */
export const TYPES = ALLOC_APIS.length
/** What the type tables below have for a function that no type id stands for. */
export const NO_TYPE = 0xff
/** The type id of an allocation, by the code of its function. */
export const TYPE_OF_ALLOC = inverse(ALLOC_APIS)
/** The type id of a free, by the code of its function. */
export const TYPE_OF_FREE = inverse(FREE_APIS)
/** The function of type 0, as which any other is written. */
export const DEFAULT_ALLOC: ApiName = 'kmalloc'
/** The same of frees. */
export const DEFAULT_FREE: ApiName = 'kfree'

function inverse(apis: Uint8Array): Uint8Array {
  return Uint8Array.from(APIS, (_, api) => (apis.includes(api) ? apis.indexOf(api) : NO_TYPE))
}

/**
 * What a stream can represent.
 * @param layout that of its records
 * @param perCpu the stream stands for one CPU, so that the file's name carries it
 */
export function carriedBy(layout: KmemtraceLayout['layout'], perCpu: boolean): Carried {
  const cpu = layout === 'ftrace' || perCpu ? fieldSet('cpu') : 0
  const shared = cpu | (layout === 'ftrace' ? fieldSet('time') : 0)
  const head =
    shared | (layout === 'relay' ? fieldSet('sequence') : 0) | fieldSet('address', 'callSite', 'attributes', 'code')
  const block = fieldSet('api', 'size', 'usable', 'gfpFlags', 'node')
  return {
    alloc: head | block,
    existing: head | block,
    free: head | fieldSet('api'),
    // Its two records have one number each, which only files that share their numbers with others are given.
    realloc:
      shared |
      block |
      fieldSet('address', 'oldAddress', 'callSite', 'outcome') |
      (layout === 'relay' && perCpu ? fieldSet('sequence') : 0),
    lost: fieldSet('count') | (layout === 'relay' ? cpu : 0),
    other: head,
  }
}

/**
 * What records cannot leave out: every record has a call site, allocations more than that, and those of `ftrace` a CPU
 * and a time. A sequence number is not among them: events without one get the number that their place says. Nor is the
 * function, in whose place there can be a code.
 * @param cpu the CPU that the stream stands for, if it does
 */
export function filledBy(layout: KmemtraceLayout['layout'], cpu: number | undefined): readonly Filling[] {
  const allocs = ['alloc', 'existing'] as const
  const all = [...allocs, 'free', 'other'] as const
  const filled: Filling[] = [
    { field: 'address', kinds: ['other'], as: '0' },
    { field: 'callSite', kinds: all, as: '0' },
    { field: 'usable', kinds: allocs, as: 'the size' },
    { field: 'gfpFlags', kinds: allocs, as: '0' },
    { field: 'node', kinds: allocs, as: '-1' },
  ]
  if (layout === 'ftrace') filled.push({ field: 'time', kinds: all, as: '0' })
  if (layout === 'ftrace') filled.push({ field: 'cpu', kinds: all, as: String(cpu ?? 0) })
  else if (cpu !== undefined) filled.push({ field: 'cpu', kinds: [...all, 'lost'], as: String(cpu) })
  return filled
}

/** The header of a stream. @param cpu the CPU that all of it is of, where that is known */
export function headerOf({ byteOrder, layout, wordSize }: KmemtraceLayout, cpu?: number): TraceHeader {
  const fields = { byteOrder, layout, ...(wordSize === 4 && { wordSize }), ...(cpu !== undefined && { cpu }) }
  return layout === 'ftrace' ? { format: FORMAT, timeUnit: 'ns', layout: fields } : { format: FORMAT, layout: fields }
}

/**
 * The layout to write a trace with, or what is wrong with the one that is requested.
 * @param wanted comes before what the header says, where that is one of this format
 */
export function layoutFor(header: TraceHeader, wanted: Partial<KmemtraceLayout>): KmemtraceLayout | string {
  const said = header.format === FORMAT ? header.layout : undefined
  const byteOrder = wanted.byteOrder ?? said?.['byteOrder'] ?? DEFAULT_LAYOUT.byteOrder
  const layout = wanted.layout ?? said?.['layout'] ?? DEFAULT_LAYOUT.layout
  // Relay records have 64-bit words on every machine, so a word size is for the other layout only.
  const wordSize = layout === 'relay' ? 8 : (wanted.wordSize ?? said?.['wordSize'] ?? 8)
  const found = LAYOUTS.find((one) => one.byteOrder === byteOrder && one.layout === layout && one.wordSize === wordSize)
  return (
    found ??
    `no records have layout ${showJson(layout)}, byteOrder ${showJson(byteOrder)} and wordSize ${showJson(wordSize)}`
  )
}
