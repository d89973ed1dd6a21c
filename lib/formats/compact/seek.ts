import { malformed } from '../../event/error.js'
import { NO_HEADER, type TraceHeader } from '../../event/header.js'
import { parseHeader } from './header.js'
import { acquireKernel, checksumOf, releaseKernel, type CompactKernel } from './kernel.js'
import type { CompactLevel } from './layout.js'
import * as Layout from './layout.js'
import { isMore, parseIndex, totalsAt, traceParts, type CompactStart, type Place, type Totals } from './places.js'
import { sniff } from './sniff.js'

/** Reads a number of bytes of a file from an offset; fewer at its end. */
export type ReadAt = (offset: number, length: number) => Uint8Array

/** The place at which a reader can begin. */
export interface Found {
  /** Undefined if the input has to be read from its start. */
  readonly start?: CompactStart
  /** The reason why an existing index cannot be used. */
  readonly problem?: string
}

interface FileEnd {
  /** The offset at which it begins. */
  readonly offset: number
  readonly totals: Totals
  /** The offset and the length of the section of its index. */
  readonly index: number
  readonly length: number
}

const END_SECTION = Layout.TOTALS_BYTES + Layout.SECTION_MORE
const MAX_INDEX = Layout.MAX_ENTRIES * Layout.ENTRY_BYTES + Layout.INDEX_TAIL + Layout.SECTION_MORE
/** The longest body of a trace section: the settings have at most 255 bytes. */
const MAX_TRACE = Layout.TRACE_HEAD + Layout.TOTALS_BYTES + 255 + Layout.MAX_HEADER
/**
 * The maximum number of files to search, so that it takes bounded time and memory. With more files, an input is read
 * from its start.
 */
const MAX_FILES = 65_536

/**
 * Finds the last place before an event by the indexes at the ends of the files of an input. There is none if one of the
 * files has no index.
 * @param size of the input in bytes
 * @param event its number, from 0
 * @throws TraceError if the trace section at which to begin is damaged
 */
export function findStart(size: number, event: number, read: ReadAt): Found {
  const kernel = acquireKernel(Layout.LEVEL.fast)
  try {
    return find(size, event, { read, kernel })
  } finally {
    releaseKernel(kernel)
  }
}

/** An input, and a kernel that computes checksums. */
export interface Source {
  readonly read: ReadAt
  readonly kernel: CompactKernel
}

/** The files of an input, the last one first, or the reason why they cannot be found. */
export function filesOf(size: number, source: Source): FileEnd[] | Found {
  const files: FileEnd[] = []
  for (let end = size; end > 0;) {
    const file = files.length === MAX_FILES ? undefined : fileBefore(end, source)
    if (file === undefined) return {}
    if ('problem' in file) return file
    files.push(file)
    end = file.offset
  }
  return files
}

function find(size: number, event: number, source: Source): Found {
  const files = filesOf(size, source)
  if (!Array.isArray(files)) return files
  let before = 0
  for (let file = files.pop(); file !== undefined; file = files.pop()) {
    if (event < before + file.totals.events) return startIn(file, event, before, source)
    before += file.totals.events
  }
  return {}
}

/** The file that ends at an offset; undefined if it has no index. */
function fileBefore(end: number, source: Source): FileEnd | { readonly problem: string } | undefined {
  const { read } = source
  const from = end - END_SECTION
  if (from < Layout.HEAD_BYTES) return undefined
  const totals = sectionAt(from, Layout.SECTION.end, Layout.TOTALS_BYTES, source)
  const tail = read(from - Layout.CHECKSUM_BYTES - Layout.INDEX_TAIL, Layout.INDEX_TAIL)
  if (totals === undefined || tail.length < Layout.INDEX_TAIL) return undefined
  const length = view(tail).getUint32(Layout.INDEX_TAIL - 4, true)
  const index = from - length
  if (length < Layout.SECTION_MORE + Layout.INDEX_TAIL || index < Layout.HEAD_BYTES || length > MAX_INDEX)
    return undefined
  if (read(index, 1)[0] !== Layout.SECTION.index) return undefined
  const offset = index - Number(view(tail).getBigUint64(0, true))
  if (offset >= 0 && isFile(read(offset, Layout.HEAD_BYTES)))
    return { offset, totals: totalsAt(totals, 0), index, length }
  const isWhole = sectionAt(index, Layout.SECTION.index, length - Layout.SECTION_MORE, source) !== undefined
  return { problem: `the index at byte ${index} is ${isWhole ? 'that of another file' : 'damaged'}` }
}

/** @param before the number of events before the file */
function startIn({ offset, totals, index, length }: FileEnd, event: number, before: number, source: Source): Found {
  const body = sectionAt(index, Layout.SECTION.index, length - Layout.SECTION_MORE, source)
  const places = body === undefined ? undefined : parseIndex(body)?.places
  if (places === undefined || !isMore(places.at(-1) as Totals, totals))
    return { problem: `the index at byte ${index} is damaged` }
  const place = places.findLast(({ events }) => before + events <= event) as Place
  const { header, level } = place.trace === place.offset ? BEGINS : traceAt(offset + place.trace, source)
  return { start: { place, header, level, bytes: offset + place.offset, events: before + place.events } }
}

/** Whether a compact trace begins with these bytes. */
export function isFile(head: Uint8Array): boolean {
  return head.length === Layout.HEAD_BYTES && sniff(head)
}

/** The body of a section; undefined if it is not of this type or length, or damaged. */
export function sectionAt(
  offset: number,
  type: number,
  length: number,
  { read, kernel }: Source,
): Uint8Array | undefined {
  const bytes = read(offset, length + Layout.SECTION_MORE)
  if (bytes.length < length + Layout.SECTION_MORE || bytes[0] !== type) return undefined
  const whole = Layout.SECTION_HEAD + length
  if (view(bytes).getUint32(1, true) !== length) return undefined
  const checksum = checksumOf(kernel, bytes.subarray(0, whole))
  return view(bytes).getUint32(whole, true) === checksum ? bytes.subarray(Layout.SECTION_HEAD, whole) : undefined
}

/** The settings that apply within a trace. */
interface InTrace {
  readonly header: TraceHeader
  readonly level: CompactLevel | undefined
}

const BEGINS: InTrace = { header: NO_HEADER, level: undefined }

/** The content of a trace section. */
function traceAt(offset: number, source: Source): InTrace {
  const at = { format: Layout.FORMAT, offset }
  const head = source.read(offset, Layout.SECTION_HEAD)
  const length = head.length < Layout.SECTION_HEAD ? 0 : view(head).getUint32(1, true)
  const body = length > MAX_TRACE ? undefined : sectionAt(offset, Layout.SECTION.trace, length, source)
  const parts = body === undefined ? undefined : traceParts(body)
  if (parts === undefined) throw malformed('the trace section that the index names is damaged', at)
  if (!Layout.isLevel(parts.level))
    throw malformed(`level ${parts.level} is not known`, { ...at, offset: offset + Layout.SECTION_HEAD + 1 })
  return { header: parseHeader(parts.header, at), level: parts.level }
}

function view({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length)
}
