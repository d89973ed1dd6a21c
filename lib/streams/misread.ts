import { TraceError } from '../event/error.js'
import { sniffFormat } from '../formats/index.js'

/** As many bytes as any format needs to be recognized. */
const HEAD_BYTES = 4096

/**
 * Finds out why bytes could not be read as the format that was asked for.
 * @param head the first bytes; copied, because their memory may be used again before the error comes
 * @returns a function for the error: where nothing was read before it, and the bytes look like another format, the
 *   result is an error that names this one
 */
export function misreading(head: Uint8Array): (error: unknown, name: string, title: string) => Promise<unknown> {
  const first = head.slice(0, HEAD_BYTES)
  return async (error, name, title) => {
    const isOwn = error instanceof TraceError && error.format === name
    if (!isOwn || (error.event ?? 1) > 1 || first.length === 0) return error
    const other = await sniffFormat(first)
    if (other === undefined || other.name === name) return error
    const reason = `not ${title}: it looks like ${other.title}`
    return new TraceError('ERR_TRACE_UNKNOWN_FORMAT', reason, { format: name, offset: 0 }, { looksLike: other.name })
  }
}
