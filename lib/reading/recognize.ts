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

function unknownFormat(head: Uint8Array): TraceError {
  const names = FORMATS.map((format) => format.title).join(', ')
  const reason = head.length === 0 ? 'the input is empty' : `unrecognized format; supported are ${names}`
  return new TraceError('ERR_TRACE_UNKNOWN_FORMAT', reason, { format: 'unknown', offset: 0 })
}
