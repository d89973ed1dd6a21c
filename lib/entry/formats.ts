/** The formats as the root of the package has them: their codecs are loaded when they are used. */
import type { Format, WritableFormat } from '../event/format.js'
import * as entries from '../formats/index.js'
import type { arrow as Arrow } from '../formats/arrow/index.js'
import type { compact as Compact } from '../formats/compact/index.js'
import type { glibcMtrace as GlibcMtrace } from '../formats/glibc-mtrace/index.js'
import type { hatf as Hatf } from '../formats/hatf/index.js'
import type { heapmon as Heapmon } from '../formats/heapmon/index.js'
import type { heaptrack as Heaptrack } from '../formats/heaptrack/index.js'
import type { kmemtrace as Kmemtrace } from '../formats/kmemtrace/index.js'
import type { ltrace as Ltrace } from '../formats/ltrace/index.js'
import type { mtrc as Mtrc } from '../formats/mtrc/index.js'
import type { ndjson as Ndjson } from '../formats/ndjson/index.js'
import type { parquet as Parquet } from '../formats/parquet/index.js'
import type { recorder as Recorder } from '../formats/recorder/index.js'
import type { replay as Replay } from '../formats/replay/index.js'
import type { tracepoints as Tracepoints } from '../formats/tracepoints/index.js'
import type { valgrind as Valgrind } from '../formats/valgrind/index.js'
import type { hatfAscii as HatfAscii } from '../metatf/hatf-ascii/index.js'
import { lazyStreams, lazyReader, type ReadOnlyFormat, type TraceFormat } from '../streams/format-streams.js'

/** The streams of a format, with the options of its codec. */
type StreamsOf<Codec> =
  Codec extends WritableFormat<infer Decode, infer Encode>
    ? TraceFormat<Decode, Encode>
    : Codec extends Format<infer Decode>
      ? ReadOnlyFormat<Decode>
      : never

/** mpatrol's tracing output. */
export const mtrc: StreamsOf<typeof Mtrc> = lazyStreams(entries.mtrc)
/** The most compressed traces, for archives. */
export const compact: StreamsOf<typeof Compact> = lazyStreams(entries.compact)
/** Android's memory_replay dumps. */
export const replay: StreamsOf<typeof Replay> = lazyStreams(entries.replay)
/** The Linux kernel's own allocations, by kmemtrace. */
export const kmemtrace: StreamsOf<typeof Kmemtrace> = lazyStreams(entries.kmemtrace)
/** Linux kmem tracepoints as text, which can only be read. */
export const tracepoints: StreamsOf<typeof Tracepoints> = lazyReader(entries.tracepoints)
/** The logs of glibc's mtrace. */
export const glibcMtrace: StreamsOf<typeof GlibcMtrace> = lazyStreams(entries.glibcMtrace)
/** The recordings of heaptrack. */
export const heaptrack: StreamsOf<typeof Heaptrack> = lazyStreams(entries.heaptrack)
/** Logs of valgrind's --trace-malloc, which can only be read. */
export const valgrind: StreamsOf<typeof Valgrind> = lazyReader(entries.valgrind)
/** Logs of ltrace, which can only be read. */
export const ltrace: StreamsOf<typeof Ltrace> = lazyReader(entries.ltrace)
/** The recordings of heapflow's own recorder, which can only be read. */
export const recorder: StreamsOf<typeof Recorder> = lazyReader(entries.recorder)
/** Taligent's heap monitoring. */
export const heapmon: StreamsOf<typeof Heapmon> = lazyStreams(entries.heapmon)
/** HATF 1.0. */
export const hatf: StreamsOf<typeof Hatf> = lazyStreams(entries.hatf)
/** HATF in ASCII, as mpatrol writes it. */
export const hatfAscii: StreamsOf<typeof HatfAscii> = lazyStreams(entries.hatfAscii)

/** Events in columns, as Arrow IPC streams. */
export const arrow: StreamsOf<typeof Arrow> = lazyStreams(entries.arrow)

/** Events in columns, as Parquet files: only written as streams, and read from files by `events` and `openTrace`. */
export const parquet: StreamsOf<typeof Parquet> = lazyStreams(entries.parquet)

/** Events as lines of JSON, as the commands pass them on; read also as jq and people rewrite them. */
export const ndjson: StreamsOf<typeof Ndjson> = lazyStreams(entries.ndjson)
