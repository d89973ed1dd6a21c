/** The formats as the root of the package has them: their codecs are loaded when they are used. */
import type { Format, WritableFormat } from '../event/format.js'
import * as entries from '../formats/index.js'
import { lazyStreams, lazyReader, type ReadOnlyFormat, type TraceFormat } from '../streams/format-streams.js'

/** The streams of a format, with the options of its codec. */
type StreamsOf<Codec> =
  Codec extends WritableFormat<infer Decode, infer Encode>
    ? TraceFormat<Decode, Encode>
    : Codec extends Format<infer Decode>
      ? ReadOnlyFormat<Decode>
      : never

/** mpatrol's tracing output. */
export const mtrc: StreamsOf<typeof import('../formats/mtrc/index.js').mtrc> = lazyStreams(entries.mtrc)
/** The most compressed traces, for archives. */
export const compact: StreamsOf<typeof import('../formats/compact/index.js').compact> = lazyStreams(entries.compact)
/** Android's memory_replay dumps. */
export const replay: StreamsOf<typeof import('../formats/replay/index.js').replay> = lazyStreams(entries.replay)
/** The Linux kernel's own allocations, by kmemtrace. */
export const kmemtrace: StreamsOf<typeof import('../formats/kmemtrace/index.js').kmemtrace> = lazyStreams(
  entries.kmemtrace,
)
/** Linux kmem tracepoints as text, which can only be read. */
export const tracepoints: StreamsOf<typeof import('../formats/tracepoints/index.js').tracepoints> = lazyReader(
  entries.tracepoints,
)
/** The logs of glibc's mtrace. */
export const glibcMtrace: StreamsOf<typeof import('../formats/glibc-mtrace/index.js').glibcMtrace> = lazyStreams(
  entries.glibcMtrace,
)
/** The recordings of heaptrack. */
export const heaptrack: StreamsOf<typeof import('../formats/heaptrack/index.js').heaptrack> = lazyStreams(
  entries.heaptrack,
)
/** Logs of valgrind's --trace-malloc, which can only be read. */
export const valgrind: StreamsOf<typeof import('../formats/valgrind/index.js').valgrind> = lazyReader(entries.valgrind)
/** Logs of ltrace, which can only be read. */
export const ltrace: StreamsOf<typeof import('../formats/ltrace/index.js').ltrace> = lazyReader(entries.ltrace)
/** The recordings of heapflow's own recorder, which can only be read. */
export const recorder: StreamsOf<typeof import('../formats/recorder/index.js').recorder> = lazyReader(entries.recorder)
/** Taligent's heap monitoring. */
export const heapmon: StreamsOf<typeof import('../formats/heapmon/index.js').heapmon> = lazyStreams(entries.heapmon)
/** HATF 1.0. */
export const hatf: StreamsOf<typeof import('../formats/hatf/index.js').hatf> = lazyStreams(entries.hatf)
/** HATF in ASCII, as mpatrol writes it. */
export const hatfAscii: StreamsOf<typeof import('../metatf/hatf-ascii/index.js').hatfAscii> = lazyStreams(
  entries.hatfAscii,
)

/** Events in columns, as Arrow IPC streams. */
export const arrow: StreamsOf<typeof import('../formats/arrow/index.js').arrow> = lazyStreams(entries.arrow)

/** Events in columns, as Parquet files: only written as streams, and read from files by `events` and `openTrace`. */
export const parquet: StreamsOf<typeof import('../formats/parquet/index.js').parquet> = lazyStreams(entries.parquet)

/** Events as lines of JSON, as the commands pass them on; read also as jq and people rewrite them. */
export const ndjson: StreamsOf<typeof import('../formats/ndjson/index.js').ndjson> = lazyStreams(entries.ndjson)
