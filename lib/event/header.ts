import { wellFormed } from './message-text.js'
/**
 * The information about a trace before its events. Every batch refers to the header of the trace that its events belong
 * to; a batch with another header than the one before it begins another trace in the same stream (as a forked child
 * does inside its parent's MTRC file).
 */
export interface TraceHeader {
  /** The format the events were read from, such as `mtrc`. */
  readonly format: string
  /** The unit of `time` and `endTime`; absent if the format has no times or does not state it. */
  readonly timeUnit?: TimeUnit
  /** The data with which the format can write the same bytes again: version, word size, byte order ... */
  readonly layout?: Readonly<Record<string, string | number | boolean>>
  /** Events were removed regardless of blocks: an allocation may lack its free, and a free its allocation. */
  readonly filtered?: true
  /** The events are a part of a trace that was split. */
  readonly part?: TracePart
}

/** The part of a trace to which the events of a header belong. */
export interface TracePart {
  /** An id of the stream that was split; it is the same for all parts. */
  readonly of: string
  /** The number of its trace in that stream, from 1. */
  readonly trace: number
  /** All events of a block are in the same part. */
  readonly whole?: true
  /**
   * Present if the events were numbered: their `sequence` is then the lowest 32 bits of their number in the stream that
   * was split, counted from 1, and this is the number of the first event. Each number is less than 2^31 above the one
   * before it in the part.
   */
  readonly first?: number
}

/** A header with other marks, which are its last properties, in this order. */
export function withMarks(
  header: TraceHeader,
  { filtered, part }: Pick<TraceHeader, 'filtered' | 'part'>,
): TraceHeader {
  const { filtered: _filtered, part: _part, ...rest } = header
  return { ...rest, ...(filtered === true && { filtered }), ...(part !== undefined && { part }) }
}

/** The command line of the program, where the recording has it. */
export function commandOf({ layout }: TraceHeader): string | undefined {
  const command = layout?.['command']
  return typeof command === 'string' && command !== '' ? wellFormed(command) : undefined
}

/** Whether the header names the process of the events without one: the first process of a recording. */
export function namesProcess({ layout }: TraceHeader): boolean {
  return layout?.['process'] !== undefined
}

/** Whether a block may lack events that were recorded, so that apparent leaks may be false. */
export function lacksEvents({ filtered, part }: TraceHeader): boolean {
  return filtered === true || (part !== undefined && part.whole !== true)
}

/** The format of a trace that was merged from traces of several formats, which its layout lists. */
export const MERGED = 'merged'

/** The formats that the events of a trace came from: several if it was merged. */
export function formatsOf({ format, layout }: TraceHeader): string[] {
  const formats = layout?.['formats']
  return format === MERGED && typeof formats === 'string' ? formats.split(',') : [format]
}

/**
 * Whether the addresses of blocks are not the program's: an interpreted heaptrack file has none, so its decoder numbers
 * the blocks.
 */
export function hasInventedAddresses(header: TraceHeader): boolean {
  return header.layout?.['raw'] !== true && formatsOf(header).includes('heaptrack')
}

/** The reason why temporary allocations cannot be selected in such a trace. */
export const UNKNOWN_TEMPORARY = 'an interpreted heaptrack file does not say which blocks are temporary'

/** Why something is unknown for such a trace, and where it is known. @param them what is missing: `it` or `them` */
function unidentified(so: string, them: string): string {
  const what = `an interpreted heaptrack file does not say which block is freed, so ${so}`
  return `${what}; recordings with addresses have ${them}, such as those of hf-record without --stack`
}

/** Why temporary allocations and lifetimes are unknown for such a trace, and how to find them. */
export const UNIDENTIFIED = unidentified('temporary allocations and lifetimes are not known', 'them')

/** Why `hf-verify` cannot find faults that concern blocks in such a trace. */
export const UNVERIFIED = unidentified('invalid frees, double frees and overlaps are not known', 'them')

/** @throws RangeError for such a trace @param so what follows from it */
export function refuseUnidentified(header: TraceHeader, so: string, them = 'it'): void {
  if (hasInventedAddresses(header)) throw new RangeError(unidentified(so, them))
}

/** Units of time that formats use. */
export type TimeUnit = 'ns' | 'us'

/** The header of events without one. */
export const NO_HEADER: TraceHeader = { format: 'unknown' }
