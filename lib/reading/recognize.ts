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

/** The first bytes of files of memray, which no format here reads. */
const MEMRAY = 'memray'
const MEMRAY_REASON =
  'this is a file of memray, which only memray reads (memray stats, memray flamegraph); for heapflow, record the ' +
  'program with hf-record -- python3 ... and PYTHONMALLOC=malloc in the environment'

function unknownFormat(head: Uint8Array): TraceError {
  const place = { format: 'unknown', offset: 0 } as const
  if (startsWith(head, MEMRAY)) return new TraceError('ERR_TRACE_UNKNOWN_FORMAT', MEMRAY_REASON, place)
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
