import { APIS, Api, fieldSet, type ApiName } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Carried, Filling } from '../../event/losses.js'
import { showJson } from '../../event/message-text.js'
import type { OptionNames } from '../../event/options.js'
import { CPU, info } from './info.js'

/** The format's name, in headers and messages. */
export const FORMAT = info.name

/** The first byte of a record: the event id. Records with other ids are preserved. */
export const EventId = { alloc: 0, free: 1 } as const

/** Every record begins with event id, type id and its own size: 1, 1 and 2 bytes. */
export const HEAD = 4

/** The largest size that a record can state. */
export const MAX_RECORD = 0xffff

/** The layout of a stream's records. */
export interface KmemtraceLayout {
  /** The byte order of the recording machine. */
  readonly byteOrder: 'little' | 'big'
  /**
   * `relay`: the per-CPU files of ABI version 1, with sequence numbers; `ftrace`: the later records, with CPU and time.
   */
  readonly layout: 'relay' | 'ftrace'
  /** Bytes of call site, pointer and sizes: always 8 in `relay`, a native `long` in `ftrace`. */
  readonly wordSize: 4 | 8
}

/** A stream's layout and CPU, as options of the decoder and the encoder. */
export const LAYOUT_OPTIONS: OptionNames<KmemtraceLayout & { cpu: number }> = {
  layout: ['relay', 'ftrace'],
  byteOrder: ['little', 'big'],
  wordSize: [4, 8],
  cpu: CPU,
}

/** The layout of new traces. */
export const DEFAULT_LAYOUT: KmemtraceLayout = { byteOrder: 'little', layout: 'relay', wordSize: 8 }

/** All layouts, the likelier ones first. */
export const LAYOUTS: readonly KmemtraceLayout[] = [
  DEFAULT_LAYOUT,
  { byteOrder: 'big', layout: 'relay', wordSize: 8 },
  { byteOrder: 'little', layout: 'ftrace', wordSize: 8 },
  { byteOrder: 'big', layout: 'ftrace', wordSize: 8 },
  { byteOrder: 'little', layout: 'ftrace', wordSize: 4 },
  { byteOrder: 'big', layout: 'ftrace', wordSize: 4 },
]

/** The offset of the call site in a record. The pointer, and the fields that only allocations have, follow. */
export function callSiteAt({ layout }: KmemtraceLayout): number {
  return layout === 'relay' ? 8 : 16
}

/** The minimum size of all records, 24 or 32 bytes. This many zero bytes are an all-zero record. */
export function coreSize(layout: KmemtraceLayout): number {
  return callSiteAt(layout) + 2 * layout.wordSize
}

/** Whether all of `bytes[start..end)` is zero. */
export function isZero(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] !== 0) return false
  return true
}

/** The minimum size of an allocation's record: 48, 56 or 40 bytes. */
export function allocSize(layout: KmemtraceLayout): number {
  return coreSize(layout) + 2 * layout.wordSize + 8
}

/** The functions of allocations by type id, as codes of `Api`. */
export const ALLOC_APIS = Uint8Array.of(Api.kmalloc, Api.kmem_cache_alloc, Api.pages)
/** The same for frees. */
export const FREE_APIS = Uint8Array.of(Api.kfree, Api.kmem_cache_free, Api.pages)
/** The number of known type ids. */
export const TYPES = ALLOC_APIS.length
/** The entry in the type tables below for a function without a type id. */
export const NO_TYPE = 0xff
/** The type id of an allocation, by the code of its function. */
export const TYPE_OF_ALLOC = inverse(ALLOC_APIS)
/** The type id of a free, by the code of its function. */
export const TYPE_OF_FREE = inverse(FREE_APIS)
/** The function of type 0; all other functions are written as this one. */
export const DEFAULT_ALLOC: ApiName = 'kmalloc'
/** The same for frees. */
export const DEFAULT_FREE: ApiName = 'kfree'

function inverse(apis: Uint8Array): Uint8Array {
  return Uint8Array.from(APIS, (_, api) => (apis.includes(api) ? apis.indexOf(api) : NO_TYPE))
}

/**
 * The fields that a stream can represent.
 * @param layout the layout of its records
 * @param perCpu whether the stream stands for one CPU, which the file's name states
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
    // Its two records have one number each, so the second number is taken only in files that share their numbers.
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
 * The fields that records cannot omit: the call site, further fields of allocations, and CPU and time in `ftrace`.
 * Sequence numbers are not among them, because missing ones are assigned by position; nor is the function, which a code
 * can replace.
 * @param cpu the CPU that the stream represents, if any
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

/** The header of a stream. @param cpu the CPU of all events, if known */
export function headerOf({ byteOrder, layout, wordSize }: KmemtraceLayout, cpu?: number): TraceHeader {
  const fields = { byteOrder, layout, ...(wordSize === 4 && { wordSize }), ...(cpu !== undefined && { cpu }) }
  return layout === 'ftrace' ? { format: FORMAT, timeUnit: 'ns', layout: fields } : { format: FORMAT, layout: fields }
}

/**
 * The layout to write a trace with, or the problem with the requested one.
 * @param wanted takes precedence over the header, if that is of this format
 */
export function layoutFor(header: TraceHeader, wanted: Partial<KmemtraceLayout>): KmemtraceLayout | string {
  const said = header.format === FORMAT ? header.layout : undefined
  const byteOrder = wanted.byteOrder ?? said?.['byteOrder'] ?? DEFAULT_LAYOUT.byteOrder
  const layout = wanted.layout ?? said?.['layout'] ?? DEFAULT_LAYOUT.layout
  // Relay records have 64-bit words on every machine, so only the other layout has a word size.
  const wordSize = layout === 'relay' ? 8 : (wanted.wordSize ?? said?.['wordSize'] ?? 8)
  const found = LAYOUTS.find((one) => one.byteOrder === byteOrder && one.layout === layout && one.wordSize === wordSize)
  return (
    found ??
    `no records have layout ${showJson(layout)}, byteOrder ${showJson(byteOrder)} and wordSize ${showJson(wordSize)}`
  )
}
