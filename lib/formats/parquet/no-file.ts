import { TraceError } from '../../event/error.js'

/** The error for Parquet in a pipe or in a compressed file. */
export function noFile(): TraceError {
  // Without a format in the position, the message has no other prefix.
  return new TraceError(
    'ERR_TRACE_UNKNOWN_FORMAT',
    'Parquet is read from a file by its name, and not from a pipe or a compressed file: its index is at its end',
    { format: 'parquet', offset: 0 },
  )
}
