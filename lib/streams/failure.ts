import type { Readable, Writable } from 'node:stream'

/** Marks failures. Like the other symbols here it is the same for all copies of the package in a process. */
const FAILURE = Symbol.for('heapflow.Failure')

/**
 * How a failure travels so that nothing before it is lost.
 *
 * Node's pipelines answer an error by destroying every stream at once, together with what is still queued in them. So
 * between two of our own streams an error travels in band: as the last thing in the queue, behind the batches that
 * came before it. The last of our streams turns it into an ordinary `error`, once its consumer has taken all it has.
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

/** A method with this name tells a stream that its consumer understands a `Failure` in the queue. */
export const passFailures = Symbol.for('heapflow.passFailures')

/** A stream that can end with a `Failure`. */
export interface PassesFailures {
  [passFailures](): void
}

/** Marks a stream that understands a `Failure` in its input. */
export const acceptsFailures = Symbol.for('heapflow.acceptsFailures')

/** Tells each of our streams that is piped into `stream` to pass failures on in band. Returns `stream`. */
export function acceptFailures<S extends Writable>(stream: S): S {
  Object.assign(stream, { [acceptsFailures]: true })
  return stream.on('pipe', (source: Partial<PassesFailures>) => source[passFailures]?.())
}

/** Whether all that a stream is piped into can take a `Failure`; only then may it go in band. */
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
    // On the next tick, for now the chunk is on its way to the consumer.
    if (stream.readableLength === 0) process.nextTick(() => stream.destroy(error))
    return chunk
  }
}

/** Whether an error says that the reader of our output went away, which ends a pipe in peace. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
