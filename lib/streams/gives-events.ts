import type { Readable } from 'node:stream'
import { wrongType } from '../event/error.js'

/** Marks streams that give events. The same for all copies of the package in a process. */
const EVENTS = Symbol.for('heapflow.givesEvents')

/**
 * Makes a stream of events fail when it is piped into a stream that only takes bytes: a file, a socket, zlib. Their
 * `write` would throw where no error handler could catch it.
 * @param name the name of the source of events, for the message
 * @returns the stream
 */
export function givesEvents<S extends Readable>(stream: S, name: string): S {
  const pipe = stream.pipe
  function pipeEvents<Target extends NodeJS.WritableStream>(target: Target, options?: { end?: boolean }): Target {
    // Streams that are older than object mode do not say.
    if ((target as { writableObjectMode?: boolean }).writableObjectMode !== false)
      return pipe.call(stream, target, options) as Target
    const reason = `${name} gives events, but is piped into a stream that takes bytes`
    stream.destroy(wrongType(`${reason}: put an encoder between them, such as ndjson.encode()`))
    return target
  }
  return Object.assign(stream, { pipe: pipeEvents as typeof stream.pipe, [EVENTS]: true })
}

/** Whether a stream is one of `givesEvents`. */
export function isOfEvents(stream: object): boolean {
  return EVENTS in stream
}
