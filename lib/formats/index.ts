import { withoutMark } from '../bytes/byte-order-mark.js'
import type { Format, FormatTraits } from '../event/format.js'
import { traits as glibcMtraceTraits } from './glibc-mtrace/traits.js'
import { traits as hatfTraits } from './hatf/traits.js'
import { traits as hatfAsciiTraits } from '../metatf/hatf-ascii/traits.js'
import { traits as heaptrackTraits } from './heaptrack/traits.js'
import { traits as heapmonTraits } from './heapmon/traits.js'
import { traits as kmemtraceTraits } from './kmemtrace/traits.js'
import { traits as mtrcTraits } from './mtrc/traits.js'
import { traits as replayTraits } from './replay/traits.js'
import { traits as tracepointsTraits } from './tracepoints/traits.js'
import { traits as valgrindTraits } from './valgrind/traits.js'
import { traits as ltraceTraits } from './ltrace/traits.js'
import { traits as ndjsonTraits } from './ndjson/traits.js'

/**
 * A format whose code is loaded when it is used: commands start quickly, and programs load no more than they use.
 */
export interface FormatEntry extends FormatTraits {
  /** What the format's own `sniff` says. Loads that alone. */
  sniff(head: Uint8Array): Promise<boolean>
  /** The format itself, with its decoder and, unless it is read-only, its encoder. */
  load(): Promise<Format>
}

/** mpatrol tracing output. */
export const mtrc: FormatEntry = {
  ...mtrcTraits,
  sniff: async (head) => (await import('./mtrc/sniff.js')).sniff(head),
  load: async () => (await import('./mtrc/index.js')).mtrc,
}

/** What travels between commands. */
export const ndjson: FormatEntry = {
  ...ndjsonTraits,
  sniff: async (head) => (await import('./ndjson/sniff.js')).sniff(head),
  load: async () => (await import('./ndjson/index.js')).ndjson,
}

/** The Linux kernel's own allocations. */
export const kmemtrace: FormatEntry = {
  ...kmemtraceTraits,
  sniff: async (head) => (await import('./kmemtrace/detect.js')).sniff(head),
  load: async () => (await import('./kmemtrace/index.js')).kmemtrace,
}

/** Android's memory_replay dumps. */
export const replay: FormatEntry = {
  ...replayTraits,
  sniff: async (head) => (await import('./replay/sniff.js')).sniff(head),
  load: async () => (await import('./replay/index.js')).replay,
}

/** What glibc's mtrace writes. */
export const glibcMtrace: FormatEntry = {
  ...glibcMtraceTraits,
  sniff: async (head) => (await import('./glibc-mtrace/sniff.js')).sniff(head),
  load: async () => (await import('./glibc-mtrace/index.js')).glibcMtrace,
}

/** What heaptrack records. */
export const heaptrack: FormatEntry = {
  ...heaptrackTraits,
  sniff: async (head) => (await import('./heaptrack/sniff.js')).sniff(head),
  load: async () => (await import('./heaptrack/index.js')).heaptrack,
}

/** The Linux kernel's kmem tracepoints as text. */
export const tracepoints: FormatEntry = {
  ...tracepointsTraits,
  sniff: async (head) => (await import('./tracepoints/sniff.js')).sniff(head),
  load: async () => (await import('./tracepoints/index.js')).tracepoints,
}

/** Logs of valgrind's --trace-malloc=yes. */
export const valgrind: FormatEntry = {
  ...valgrindTraits,
  sniff: async (head) => (await import('./valgrind/sniff.js')).sniff(head),
  load: async () => (await import('./valgrind/index.js')).valgrind,
}

/** The logs of ltrace. */
export const ltrace: FormatEntry = {
  ...ltraceTraits,
  sniff: async (head) => (await import('./ltrace/sniff.js')).sniff(head),
  load: async () => (await import('./ltrace/index.js')).ltrace,
}

/** Taligent's heap monitoring files. */
export const heapmon: FormatEntry = {
  ...heapmonTraits,
  sniff: async (head) => (await import('./heapmon/sniff.js')).sniff(head),
  load: async () => (await import('./heapmon/index.js')).heapmon,
}

/** HATF in ASCII, as mpatrol writes it. */
export const hatfAscii: FormatEntry = {
  ...hatfAsciiTraits,
  sniff: async (head) => (await import('../metatf/hatf-ascii/sniff.js')).sniff(head),
  load: async () => (await import('../metatf/hatf-ascii/index.js')).hatfAscii,
}

/** HATF 1.0. */
export const hatf: FormatEntry = {
  ...hatfTraits,
  sniff: async (head) => (await import('./hatf/sniff.js')).sniff(head),
  load: async () => (await import('./hatf/index.js')).hatf,
}

/**
 * Every format, in the order in which they are tried on unknown bytes: those with a magic number first, HATF, which has
 * the weakest signs, last.
 */
export const FORMATS: readonly FormatEntry[] = [
  mtrc,
  ndjson,
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

/** Those that can be written. */
export const WRITABLE: readonly FormatEntry[] = FORMATS.filter((entry) => entry.readOnly !== true)

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
