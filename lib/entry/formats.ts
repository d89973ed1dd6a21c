/** The formats as the root of the package has them: their codecs are loaded when they are used. */
import type { EncodeOptions } from '../event/format.js'
import * as entries from '../formats/index.js'
import type { ArrowEncodeOptions } from '../formats/arrow/index.js'
import type { HatfDecodeOptions, HatfFormatEncodeOptions } from '../formats/hatf/index.js'
import type { HeapmonDecodeOptions, HeapmonEncodeOptions } from '../formats/heapmon/index.js'
import type { HeaptrackEncodeOptions } from '../formats/heaptrack/index.js'
import type { KmemtraceDecodeOptions, KmemtraceEncodeOptions } from '../formats/kmemtrace/index.js'
import type { LtraceDecodeOptions } from '../formats/ltrace/index.js'
import type { MtrcDecodeOptions } from '../formats/mtrc/index.js'
import type { ParquetEncodeOptions } from '../formats/parquet/index.js'
import type { TracepointsDecodeOptions } from '../formats/tracepoints/index.js'
import { lazyStreams, lazyReader, type ReadOnlyFormat, type TraceFormat } from '../streams/format-streams.js'

/** mpatrol's tracing output. */
export const mtrc: TraceFormat<MtrcDecodeOptions, EncodeOptions> = lazyStreams(entries.mtrc)
/** The most compressed traces, for archives. */
export const compact: TraceFormat<object, EncodeOptions> = lazyStreams(entries.compact)
/** Android's memory_replay dumps. */
export const replay: TraceFormat<object, EncodeOptions> = lazyStreams(entries.replay)
/** The Linux kernel's own allocations, by kmemtrace. */
export const kmemtrace: TraceFormat<KmemtraceDecodeOptions, KmemtraceEncodeOptions> = lazyStreams(entries.kmemtrace)
/** Linux kmem tracepoints as text, which can only be read. */
export const tracepoints: ReadOnlyFormat<TracepointsDecodeOptions> = lazyReader(entries.tracepoints)
/** The logs of glibc's mtrace. */
export const glibcMtrace: TraceFormat<object, EncodeOptions> = lazyStreams(entries.glibcMtrace)
/** The recordings of heaptrack. */
export const heaptrack: TraceFormat<object, HeaptrackEncodeOptions> = lazyStreams(entries.heaptrack)
/** Logs of valgrind's --trace-malloc, which can only be read. */
export const valgrind: ReadOnlyFormat<object> = lazyReader(entries.valgrind)
/** Logs of ltrace, which can only be read. */
export const ltrace: ReadOnlyFormat<LtraceDecodeOptions> = lazyReader(entries.ltrace)
/** The recordings of heapflow's own recorder, which can only be read. */
export const recorder: ReadOnlyFormat<object> = lazyReader(entries.recorder)
/** Taligent's heap monitoring. */
export const heapmon: TraceFormat<HeapmonDecodeOptions, HeapmonEncodeOptions> = lazyStreams(entries.heapmon)
/** HATF 1.0. */
export const hatf: TraceFormat<HatfDecodeOptions, HatfFormatEncodeOptions> = lazyStreams(entries.hatf)
/** HATF in ASCII, as mpatrol writes it. */
export const hatfAscii: TraceFormat<object, EncodeOptions> = lazyStreams(entries.hatfAscii)

/** Events in columns, as Arrow IPC streams. */
export const arrow: TraceFormat<object, ArrowEncodeOptions & EncodeOptions> = lazyStreams(entries.arrow)

/** Events in columns, as Parquet files: only written as streams, and read from files by `events` and `openTrace`. */
export const parquet: TraceFormat<object, ParquetEncodeOptions & EncodeOptions> = lazyStreams(entries.parquet)

/** Events as lines of JSON, as the commands pass them on; read also as jq and people rewrite them. */
export const ndjson: TraceFormat<object, EncodeOptions> = lazyStreams(entries.ndjson)
