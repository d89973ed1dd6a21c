import { archiveName } from '../compression/magic.js'
import type { Format } from '../event/format.js'
import { TraceError } from '../event/error.js'
import { FORMATS, sniffFormat } from '../formats/index.js'
import type { Peeked } from './peek.js'

/** The number of first bytes by which a format is recognized, unless the trace is shorter. */
export const HEAD_BYTES = 64

/** The format that the first bytes of a trace match. @throws TraceError ERR_TRACE_UNKNOWN_FORMAT if there is none */
export async function recognize({ head, failure }: Pick<Peeked, 'head' | 'failure'>): Promise<Format> {
  const entry = await sniffFormat(head)
  if (entry === undefined) throw failure ?? unknownFormat(head)
  return entry.load()
}

const MTRACE_REPORT =
  'this is a report of the script mtrace: heapflow reads the input of the script, the file that MALLOC_TRACE names'

/** What files are that no format here reads, and what to do, by their first bytes. */
const OTHERS: readonly (readonly [beginning: string, reason: string])[] = [
  [
    'memray',
    'this is a file of memray, which only memray reads (memray stats, memray flamegraph); for heapflow, record the ' +
      'program with hf-record -- python3 ... and PYTHONMALLOC=malloc in the environment',
  ],
  ['PERFILE2', 'this is a file of perf record: perf script -i FILE writes its events as text, which heapflow reads'],
  [
    '\x17\x08Dtracing',
    'this is a file of trace-cmd record: trace-cmd report FILE writes its events as text, which heapflow reads',
  ],
  ['\nMemory not freed:', MTRACE_REPORT],
  ['- 0x0000', MTRACE_REPORT],
  ['% time ', 'this is a summary of ltrace -c or strace -c, without single calls: run ltrace without -c'],
  ['execve("', 'this is a log of strace, which has no calls of malloc: record the program with hf-record or ltrace'],
  ['\xff\xfe', 'this is text in UTF-16, as > of PowerShell writes it: convert it to UTF-8'],
]

function unknownFormat(head: Uint8Array): TraceError {
  const place = { format: 'unknown', offset: 0 } as const
  const other = OTHERS.find(([beginning]) => startsWith(head, beginning))
  if (other !== undefined) return new TraceError('ERR_TRACE_UNKNOWN_FORMAT', other[1], place)
  const archive = archiveName(head)
  if (archive !== undefined)
    return new TraceError(
      'ERR_TRACE_UNKNOWN_FORMAT',
      `the input is ${archive}: decompress it first, in programs with decompress()`,
      place,
    )
  const names = FORMATS.map((format) => format.title).join(', ')
  const reason = head.length === 0 ? 'the input is empty' : `unrecognized format; supported are ${names}`
  return new TraceError('ERR_TRACE_UNKNOWN_FORMAT', reason, place)
}

function startsWith(head: Uint8Array, text: string): boolean {
  return [...text].every((char, i) => head[i] === char.charCodeAt(0))
}
