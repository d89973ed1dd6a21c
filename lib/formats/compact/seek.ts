import { malformed } from '../../event/error.js'
import { NO_HEADER, type TraceHeader } from '../../event/header.js'
import type { CompactStart } from './decode.js'
import { parseHeader } from './header.js'
import { acquireKernel, checksumOf, releaseKernel } from './kernel.js'
import {
  CHECKSUM_BYTES,
  FORMAT,
  HEAD_BYTES,
  INDEX_TAIL,
  isLevel,
  LEVEL,
  MAX_BODY,
  MAX_HEADER,
  SECTION,
  SECTION_HEAD,
  TOTALS_BYTES,
  TRACE_HEAD,
  type CompactLevel,
} from './layout.js'
import { parseIndex, totalsAt, type Place } from './places.js'
import { sniff } from './sniff.js'

/** Bytes of a file: so many from an offset, or fewer at its end. */
export type ReadAt = (offset: number, length: number) => Uint8Array

/** Where readers of an input can begin: its files one after the other. */
export interface Places {
  readonly files: readonly FilePlaces[]
  /** Why an index that there is cannot be used. Then there are no files. */
  readonly problem?: string
}

/** The places of one file. */
interface FilePlaces {
  /** The offset at which it begins, and how many events it has. */
  readonly offset: number
  readonly events: number
  readonly places: readonly Place[]
}

const SECTION_MORE = SECTION_HEAD + CHECKSUM_BYTES
const END_SECTION = TOTALS_BYTES + SECTION_MORE

/**
 * Finds the places of an input by the indexes at the ends of its files. There are none if one of the files has no
 * index.
 * @param size of the input in bytes
 */
export function findPlaces(size: number, read: ReadAt): Places {
  const files: FilePlaces[] = []
  for (let end = size; end > 0;) {
    const total = totalsAtEnd(end, read)
    if (total === undefined) return { files: [] }
    const tail = read(end - END_SECTION - CHECKSUM_BYTES - 4, 4)
    const length = tail.length < 4 ? 0 : view(tail).getUint32(0, true)
    const at = end - END_SECTION - length
    if (length < SECTION_MORE + INDEX_TAIL || at < HEAD_BYTES || length > MAX_BODY) return { files: [] }
    if (read(at, 1)[0] !== SECTION.index) return { files: [] }
    const body = sectionAt(at, SECTION.index, length - SECTION_MORE, read)
    const index = body === undefined ? undefined : parseIndex(body)
    if (index === undefined) return { files: [], problem: `the index at byte ${at} is damaged` }
    const offset = at - index.offset
    if (offset < 0 || !isFile(read(offset, HEAD_BYTES)))
      return { files: [], problem: `the index at byte ${at} is that of another file` }
    files.unshift({ offset, events: total, places: index.places })
    end = offset
  }
  return { files }
}

/** The last place before an event, whose number is from 0; undefined if there is none. @throws TraceError */
export function startBefore({ files }: Places, event: number, read: ReadAt): CompactStart | undefined {
  let before = 0
  for (const file of files) {
    if (event < before + file.events) {
      const place = file.places.findLast(({ events }) => before + events <= event)
      if (place === undefined) return undefined
      const { header, level } = place.trace === place.offset ? BEGINS : traceAt(file.offset + place.trace, read)
      return { place, header, level, bytes: file.offset + place.offset, events: before + place.events }
    }
    before += file.events
  }
  return undefined
}

function isFile(head: Uint8Array): boolean {
  return head.length === HEAD_BYTES && sniff(head)
}

/** The number of events of the file that ends there, if there is an end section. */
function totalsAtEnd(end: number, read: ReadAt): number | undefined {
  if (end < END_SECTION + HEAD_BYTES) return undefined
  const body = sectionAt(end - END_SECTION, SECTION.end, TOTALS_BYTES, read)
  return body === undefined ? undefined : totalsAt(body, 0).events
}

/** The body of a section; undefined if it is not of this type or length, or damaged. */
function sectionAt(offset: number, type: number, length: number, read: ReadAt): Uint8Array | undefined {
  const bytes = read(offset, length + SECTION_MORE)
  if (bytes.length < length + SECTION_MORE || bytes[0] !== type) return undefined
  const whole = SECTION_HEAD + length
  if (view(bytes).getUint32(1, true) !== length) return undefined
  const kernel = acquireKernel(LEVEL.fast)
  const checksum = checksumOf(kernel, bytes.subarray(0, whole))
  releaseKernel(kernel)
  return view(bytes).getUint32(whole, true) === checksum ? bytes.subarray(SECTION_HEAD, whole) : undefined
}

/** What holds within a trace. */
interface InTrace {
  readonly header: TraceHeader
  readonly level: CompactLevel | undefined
}

const BEGINS: InTrace = { header: NO_HEADER, level: undefined }

/** What a trace section says. */
function traceAt(offset: number, read: ReadAt): InTrace {
  const at = { format: FORMAT, offset }
  const head = read(offset, SECTION_HEAD)
  const length = head.length < SECTION_HEAD ? 0 : view(head).getUint32(1, true)
  const body = length > MAX_HEADER + TRACE_HEAD ? undefined : sectionAt(offset, SECTION.trace, length, read)
  if (body === undefined) throw malformed('the trace section that the index names is damaged', at)
  const level = body[1]
  if (!isLevel(level)) throw malformed(`level ${level} is not known`, at)
  return { header: parseHeader(body.subarray(TRACE_HEAD + (body[2] as number)), at), level }
}

function view({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length)
}
