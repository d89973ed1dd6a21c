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
}

/** Units of time that formats use. */
export type TimeUnit = 'ns' | 'us'

/** The header of events that came with none. */
export const NO_HEADER: TraceHeader = { format: 'unknown' }
