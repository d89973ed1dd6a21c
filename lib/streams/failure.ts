import { Transform, type Readable, type Writable } from 'node:stream'

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
  return consumersOf(stream).every((consumer) => acceptsFailures in consumer)
}

/** The initial and the maximum time to wait before checking again whether consumers are done. */
const [FIRST_WAIT_MS, MAX_WAIT_MS] = [1, 50]

/**
 * Destroys a stream with an error as soon as its consumer has taken everything that is queued, and the streams that it
 * is piped into have written their input. A pipeline destroys these together with what they have queued.
 */
export function failWhenDrained(stream: Readable, error: Error): void {
  let isWaiting = false
  const fail = (wait: number) => {
    isWaiting = true
    if (stream.destroyed) return
    if (consumersOf(stream).every(isIdle)) stream.destroy(error)
    // A consumer that no one reads must not keep the process alive.
    else setTimeout(fail, wait, Math.min(2 * wait, MAX_WAIT_MS)).unref()
  }
  if (stream.readableLength === 0) {
    fail(FIRST_WAIT_MS)
    return
  }
  const read = stream.read
  stream.read = (size?: number): unknown => {
    const chunk: unknown = read.call(stream, size)
    // The consumer has the chunk, or gets it from this call; Node emits the error on a later tick.
    if (stream.readableLength === 0 && !isWaiting) fail(FIRST_WAIT_MS)
    return chunk
  }
}

/** The streams that a stream is piped into, in a private field of all implementations of Node's streams. */
function consumersOf(stream: Readable): Writable[] {
  const { pipes } = (stream as unknown as { _readableState: { pipes?: Writable | Writable[] | null } })._readableState
  // A single stream in older implementations.
  return Array.isArray(pipes) ? pipes : pipes ? [pipes] : []
}

/** Whether a stream, and the streams it is piped into, have nothing queued. */
function isIdle(stream: Writable): boolean {
  if (stream.destroyed) return true
  if (stream.writableLength > 0) return false
  const duplex: unknown = stream
  // The output of other duplex streams differs from their input.
  return !(duplex instanceof Transform) || (duplex.readableLength === 0 && consumersOf(duplex).every(isIdle))
}
