import { withoutMark } from '../text/byte-order-mark.js'
import type { Format, FormatInfo } from '../event/format.js'
import { info as compactInfo } from './compact/info.js'
import { info as glibcMtraceInfo } from './glibc-mtrace/info.js'
import { info as hatfInfo } from './hatf/info.js'
import { info as hatfAsciiInfo } from '../metatf/hatf-ascii/info.js'
import { info as heaptrackInfo } from './heaptrack/info.js'
import { info as heapmonInfo } from './heapmon/info.js'
import { info as kmemtraceInfo } from './kmemtrace/info.js'
import { info as arrowInfo } from './arrow/info.js'
import { info as parquetInfo } from './parquet/info.js'
import { info as mtrcInfo } from './mtrc/info.js'
import { info as recorderInfo } from './recorder/info.js'
import { info as replayInfo } from './replay/info.js'
import { info as tracepointsInfo } from './tracepoints/info.js'
import { info as valgrindInfo } from './valgrind/info.js'
import { info as ltraceInfo } from './ltrace/info.js'
import { info as ndjsonInfo } from './ndjson/info.js'

/**
 * A format whose code is loaded when it is used: commands start quickly, and programs load no more than they use.
 */
export interface FormatEntry extends FormatInfo {
  /** The result of the format's own `sniff`; loads nothing else. */
  sniff(head: Uint8Array): Promise<boolean>
  /** The format itself, with its decoder and, unless it is read-only, its encoder. */
  load(): Promise<Format>
}

/** A format, loaded if it is an entry of the list. */
export async function loadFormat(format: Format | FormatEntry): Promise<Format> {
  return 'load' in format ? format.load() : format
}

/** mpatrol tracing output. */
export const mtrc: FormatEntry = {
  ...mtrcInfo,
  sniff: async (head) => (await import('./mtrc/sniff.js')).sniff(head),
  load: async () => (await import('./mtrc/index.js')).mtrc,
}

/** The most compressed traces, for archives. */
export const compact: FormatEntry = {
  ...compactInfo,
  sniff: async (head) => (await import('./compact/sniff.js')).sniff(head),
  load: async () => (await import('./compact/index.js')).compact,
}

/** The recordings of heapflow's own recorder. */
export const recorder: FormatEntry = {
  ...recorderInfo,
  sniff: async (head) => (await import('./recorder/sniff.js')).sniff(head),
  load: async () => (await import('./recorder/index.js')).recorder,
}

/** The usual wire format between commands. */
export const ndjson: FormatEntry = {
  ...ndjsonInfo,
  sniff: async (head) => (await import('./ndjson/sniff.js')).sniff(head),
  load: async () => (await import('./ndjson/index.js')).ndjson,
}

/** The fast wire format between commands, which data-analysis tools also read. */
export const arrow: FormatEntry = {
  ...arrowInfo,
  sniff: async (head) => (await import('./arrow/sniff.js')).sniff(head),
  load: async () => (await import('./arrow/index.js')).arrow,
}

/** Columns in a file, for tools that analyse data. */
export const parquet: FormatEntry = {
  ...parquetInfo,
  sniff: async (head) => (await import('./parquet/sniff.js')).sniff(head),
  load: async () => (await import('./parquet/index.js')).parquet,
}

/** The Linux kernel's own allocations. */
export const kmemtrace: FormatEntry = {
  ...kmemtraceInfo,
  sniff: async (head) => (await import('./kmemtrace/detect.js')).sniff(head),
  load: async () => (await import('./kmemtrace/index.js')).kmemtrace,
}

/** Android's memory_replay dumps. */
export const replay: FormatEntry = {
  ...replayInfo,
  sniff: async (head) => (await import('./replay/sniff.js')).sniff(head),
  load: async () => (await import('./replay/index.js')).replay,
}

/** The output of glibc's mtrace. */
export const glibcMtrace: FormatEntry = {
  ...glibcMtraceInfo,
  sniff: async (head) => (await import('./glibc-mtrace/sniff.js')).sniff(head),
  load: async () => (await import('./glibc-mtrace/index.js')).glibcMtrace,
}

/** The recordings of heaptrack. */
export const heaptrack: FormatEntry = {
  ...heaptrackInfo,
  sniff: async (head) => (await import('./heaptrack/sniff.js')).sniff(head),
  load: async () => (await import('./heaptrack/index.js')).heaptrack,
}

/** The Linux kernel's kmem tracepoints as text. */
export const tracepoints: FormatEntry = {
  ...tracepointsInfo,
  sniff: async (head) => (await import('./tracepoints/sniff.js')).sniff(head),
  load: async () => (await import('./tracepoints/index.js')).tracepoints,
}

/** Logs of valgrind's --trace-malloc=yes. */
export const valgrind: FormatEntry = {
  ...valgrindInfo,
  sniff: async (head) => (await import('./valgrind/sniff.js')).sniff(head),
  load: async () => (await import('./valgrind/index.js')).valgrind,
}

/** The logs of ltrace. */
export const ltrace: FormatEntry = {
  ...ltraceInfo,
  sniff: async (head) => (await import('./ltrace/sniff.js')).sniff(head),
  load: async () => (await import('./ltrace/index.js')).ltrace,
}

/** Taligent's heap monitoring files. */
export const heapmon: FormatEntry = {
  ...heapmonInfo,
  sniff: async (head) => (await import('./heapmon/sniff.js')).sniff(head),
  load: async () => (await import('./heapmon/index.js')).heapmon,
}

/** HATF in ASCII, as mpatrol writes it. */
export const hatfAscii: FormatEntry = {
  ...hatfAsciiInfo,
  sniff: async (head) => (await import('../metatf/hatf-ascii/sniff.js')).sniff(head),
  load: async () => (await import('../metatf/hatf-ascii/index.js')).hatfAscii,
}

/** HATF 1.0. */
export const hatf: FormatEntry = {
  ...hatfInfo,
  sniff: async (head) => (await import('./hatf/sniff.js')).sniff(head),
  load: async () => (await import('./hatf/index.js')).hatf,
}

/**
 * Every format, in the order in which they are tried on unknown bytes: those with a magic number first; HATF, which is
 * the hardest to recognize, last.
 */
const formats: FormatEntry[] = [
  mtrc,
  ndjson,
  arrow,
  parquet,
  compact,
  recorder,
  kmemtrace,
  glibcMtrace,
  heaptrack,
  tracepoints,
  valgrind,
  replay,
  ltrace,
  heapmon,
  hatfAscii,
  hatf,
]

export const FORMATS: readonly FormatEntry[] = formats

const writable = formats.filter((entry) => entry.readOnly !== true)

/** The formats that can be written. */
export const WRITABLE: readonly FormatEntry[] = writable

/** Adds a format, which is tried on unknown bytes before HATF: see ../streams/register-format.ts. */
export function addFormat(entry: FormatEntry): void {
  formats.splice(formats.indexOf(hatf), 0, entry)
  if (entry.readOnly !== true) writable.push(entry)
}

/** The format of this name, such as `mtrc`. */
export function formatNamed(name: string): FormatEntry | undefined {
  return FORMATS.find((entry) => entry.name === name)
}

/**
 * The format that a file's name stands for, by the longest ending that fits; an ending of a compression does not
 * matter.
 */
export function formatOfPath(path: string): FormatEntry | undefined {
  const plain = path.toLowerCase().replace(/\.(gz|zst|xz)$/, '')
  const endings = FORMATS.map(({ extensions }) => extensions.filter((end) => plain.endsWith(end)))
  const lengths = endings.map((fitting) => Math.max(0, ...fitting.map(({ length }) => length)))
  const longest = Math.max(...lengths)
  return longest === 0 ? undefined : FORMATS[lengths.indexOf(longest)]
}

/** The format of a stream that begins with these bytes. Text may begin with a byte order mark. */
export async function sniffFormat(head: Uint8Array): Promise<FormatEntry | undefined> {
  const text = withoutMark(head)
  for (const entry of FORMATS) if (await entry.sniff(entry.binary ? head : text)) return entry
  return undefined
}
