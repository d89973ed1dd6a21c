import type { Readable, Transform, Writable } from 'node:stream'
import { setTimeout } from './timers.js'

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

/**
 * Lets a stream end with a failure, which follows everything that is queued: in band if its consumers understand that.
 * @returns the function that does so
 */
export function failing(stream: Readable): (error: Error) => void {
  let inBand = false
  const pass: PassesFailures = {
    [passFailures]() {
      inBand = true
    },
  }
  Object.assign(stream, pass)
  return (error) => {
    if (inBand && allAccept(stream)) stream.push(new Failure(error))
    else failWhenDrained(stream, error)
  }
}

/** The initial and the maximum time to wait before checking again whether consumers are done. */
const [FIRST_WAIT_MS, MAX_WAIT_MS] = [1, 50]

/** Errors that wait for streams to write their input. The writes that they wait for, if any, keep the process alive. */
const waiting = new Set<() => void>()

/** The event loop is empty, so data that is still queued somewhere will never be written. */
function failAll(): void {
  for (const fail of waiting) fail()
}

/**
 * Destroys a stream with an error as soon as its consumer has taken everything that is queued and asks for more, and
 * the streams that it is piped into have written their input. A pipeline destroys these together with what they have
 * queued, and a consumer that has not asked for more may still work on the last chunk.
 */
export function failWhenDrained(stream: Readable, error: Error): void {
  let isAsked = false
  const fail = () => {
    waiting.delete(fail)
    if (waiting.size === 0) process.off('beforeExit', failAll)
    stream.destroy(error)
  }
  const failWhenIdle = (wait: number) => {
    if (stream.destroyed || consumersOf(stream).every(isIdle)) return fail()
    if (waiting.size === 0) process.on('beforeExit', failAll)
    waiting.add(fail)
    setTimeout(failWhenIdle, wait, Math.min(2 * wait, MAX_WAIT_MS)).unref()
  }
  const ask = () => {
    if (!isAsked) failWhenIdle(FIRST_WAIT_MS)
    isAsked = true
  }
  const read = stream.read
  stream.read = (size?: number): unknown => {
    const chunk: unknown = read.call(stream, size)
    // Node itself calls `read(0)`, which asks for nothing.
    if (chunk === null && size !== 0 && stream.readableLength === 0) ask()
    return chunk
  }
  if (stream.readableLength > 0) return
  // A consumer that calls `read` may have done so before, and does it again after this event.
  const isRead = stream.readableFlowing === false || (stream.readableFlowing === null && stream.readableDidRead)
  if (isRead) process.nextTick(() => stream.emit('readable'))
  else ask()
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
  // The output of other duplex streams differs from their input. Not by instanceof: there are several implementations.
  if (!('_transform' in stream)) return true
  const transform = stream as unknown as Transform
  return transform.readableLength === 0 && consumersOf(transform).every(isIdle)
}
