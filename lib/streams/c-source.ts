import { checkEncodeOptions } from '../event/format.js'
import type { CSourceOptions } from '../exports/c-source/encode.js'
import { info } from '../exports/c-source/info.js'
import { encoderStream } from './stage.js'
import type { ByteStream } from './types.js'

/**
 * Writes C source: from events, a program that makes the same calls, with a thread for each thread of the trace. It is
 * C11 with POSIX threads. Calls that the program lacks are emitted at the end as `losses`. Memory grows with the number
 * of live blocks and of threads.
 *
 * @example
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), cSource(), createWriteStream('calls.c'))
 *
 * @throws RangeError for options that are unknown or out of range. A trace that does not say which blocks its events
 *   are about is an error of the stream.
 */
export function cSource(options: CSourceOptions = {}): ByteStream<'events'> {
  checkEncodeOptions(info, options, 'cSource()')
  const own = { ...options }
  const load = async () => new (await import('../exports/c-source/encode.js')).CSourceEncoder(own)
  return encoderStream(load, { name: 'cSource()' })
}
