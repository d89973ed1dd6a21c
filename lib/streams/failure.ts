import type { Readable, Writable } from 'node:stream'

/** Marks failures. Like the other symbols here it is the same for all copies of the package in a process. */
const FAILURE = Symbol.for('heapflow.Failure')

/**
 * A failure that travels so that nothing before it is lost.
 *
 * When a stream fails, Node's pipelines destroy all streams at once, together with what they have queued. So between
 * two of heapflow's streams an error travels in band: as the last item of the queue, after the batches before it. The
 * last of the streams turns it into an ordinary `error` after its consumer has taken everything.
 */
export class Failure {
  constructor(readonly error: Error) {}

  get [FAILURE](): true {
    return true
  }
}

/** Whether a chunk is a `Failure`, made by this copy of the package or by another one. */
export function isFailure(chunk: unknown): chunk is Failure {
  return typeof chunk === 'object' && chunk !== null && FAILURE in chunk
}

/** The name of a method that a consumer calls if it understands a `Failure` in the queue. */
export const passFailures = Symbol.for('heapflow.passFailures')

/** A stream that can end with a `Failure`. */
export interface PassesFailures {
  [passFailures](): void
}

/** Marks a stream that understands a `Failure` in its input. */
export const acceptsFailures = Symbol.for('heapflow.acceptsFailures')

/** Makes each heapflow stream that is piped into `stream` pass failures on in band. Returns `stream`. */
export function acceptFailures<S extends Writable>(stream: S): S {
  Object.assign(stream, { [acceptsFailures]: true })
  return stream.on('pipe', (source: Partial<PassesFailures>) => source[passFailures]?.())
}

/** Whether all consumers of a stream accept a `Failure`; only then may it travel in band. */
export function allAccept(stream: Readable): boolean {
  const { pipes } = (stream as unknown as { _readableState: { pipes: object[] } })._readableState
  return pipes.every((consumer) => acceptsFailures in consumer)
}

/** Destroys a stream with an error as soon as its consumer has taken everything that is queued. */
export function failWhenDrained(stream: Readable, error: Error): void {
  if (stream.readableLength === 0) {
    stream.destroy(error)
    return
  }
  const read = stream.read
  stream.read = (size?: number): unknown => {
    const chunk: unknown = read.call(stream, size)
    // The consumer has the chunk, or gets it from this call; Node emits the error on a later tick.
    if (stream.readableLength === 0) stream.destroy(error)
    return chunk
  }
}

/** Whether an error means that the reader of the output has closed it, which ends a pipeline normally. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
