/**
 * What a trace says about itself before its events. Every batch refers to the header of the trace that its events
 * belong to; a batch with another header than the one before it begins another trace in the same stream (as a forked
 * child does inside its parent's MTRC file).
 */
export interface TraceHeader {
  /** The format the events were read from, such as `mtrc`. */
  readonly format: string
  /** The unit of `time` and `endTime`; absent where the format has no times or does not say. */
  readonly timeUnit?: TimeUnit
  /** What the same format needs to write the same bytes again: version, word size, byte order ... */
  readonly layout?: Readonly<Record<string, string | number | boolean>>
  /** Events were left out with no regard to blocks: an allocation may lack its free, and a free its allocation. */
  readonly filtered?: true
  /** The events are a part of a trace that was split. */
  readonly part?: TracePart
}

/** Which part of what trace the events of a header are. */
export interface TracePart {
  /** An id of the stream that was split; it is the same for all parts. */
  readonly of: string
  /** Which trace of that stream it is a part of, from 1. */
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

/** A header with other marks; they come last in it, in this order. */
export function withMarks(
  header: TraceHeader,
  { filtered, part }: Pick<TraceHeader, 'filtered' | 'part'>,
): TraceHeader {
  const { filtered: _filtered, part: _part, ...rest } = header
  return { ...rest, ...(filtered === true && { filtered }), ...(part !== undefined && { part }) }
}

/** Whether a block may lack events that the recorded trace has, so that what looks like a leak may be none. */
export function lacksEvents({ filtered, part }: TraceHeader): boolean {
  return filtered === true || (part !== undefined && part.whole !== true)
}

/** Units of time that formats use. */
export type TimeUnit = 'ns' | 'us'

/** The header of events that came with none. */
export const NO_HEADER: TraceHeader = { format: 'unknown' }
