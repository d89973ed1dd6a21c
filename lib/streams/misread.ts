import { TraceError } from '../event/error.js'
import { sniffFormat } from '../formats/index.js'

/** The number of bytes that is enough to recognize any format. */
const HEAD_BYTES = 4096

/**
 * Determines why bytes could not be read as the requested format.
 * @param head the first bytes; copied, because their memory may be reused before the error occurs
 * @returns a function of the error: if nothing was read before it, and the bytes look like another format, its result
 *   is an error that names that format
 */
export function misreading(head: Uint8Array): (error: unknown, name: string, title: string) => Promise<unknown> {
  // The `slice` of a Buffer does not copy.
  const first = Uint8Array.from(head.subarray(0, HEAD_BYTES))
  return async (error, name, title) => {
    const isOwn = error instanceof TraceError && error.format === name
    if (!isOwn || (error.event ?? 1) > 1 || first.length === 0) return error
    const other = await sniffFormat(first)
    if (other === undefined || other.name === name) return error
    const reason = `not ${title}: it looks like ${other.title}`
    return new TraceError('ERR_TRACE_UNKNOWN_FORMAT', reason, { format: name, offset: 0 }, { looksLike: other.name })
  }
}
