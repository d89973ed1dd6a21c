import { Readable, type Duplex } from 'node:stream'
import Pumpify from 'pumpify'
import { wrongType } from '../event/error.js'
import { showValue } from '../event/message-text.js'
import { acceptEncodings, withoutEncoding } from './as-buffer.js'
import { acceptFailures, acceptsFailures, failWhenDrained, passFailures, type PassesFailures } from './failure.js'
import { givesEvents, isOfEvents } from './gives-events.js'
import { QUEUED } from './stage.js'
import type { Composed, InOrder } from './types.js'

/** Methods of Node's streams that pumpify's lack. They work on any async iterable. */
const HELPERS = [
  'compose',
  'drop',
  'every',
  'filter',
  'find',
  'flatMap',
  'forEach',
  'iterator',
  'map',
  'reduce',
  'some',
  'take',
  'toArray',
  Symbol.asyncDispose,
] as const satisfies readonly (keyof Readable)[]

/** The state of a stream in private fields of the implementation of streams that pumpify builds on. */
interface Internals {
  readonly _readableState: { readonly endEmitted: boolean }
  readonly _writableState: { readonly ending: boolean; readonly finished: boolean; readonly needDrain: boolean }
}

/** pumpify's method for it: an async iterator that ends early waits for `done`. */
type Destroy = (this: Pumpify, error?: Error | null, done?: (error: Error | null) => void) => Pumpify

const isStream = (value: Partial<Duplex> | null | undefined) => typeof value?.pipe === 'function'

/**
 * Stages as one Duplex, to be passed around and piped like a single stream: writes go into the first, and reads come
 * out of the last. An error in any stage destroys all of them and is the composed stream's error, after all results
 * before it were read. A stage that closes before it has ended is an error too.
 *
 * @param stages two or more streams, each reading what the one before it writes
 * @throws TypeError (code ERR_INVALID_ARG_TYPE) for what is not a stream
 */
export function compose<const Stages extends readonly [Duplex, Duplex, ...Duplex[]]>(
  ...stages: Stages & InOrder<Stages>
): Composed<Stages> {
  const all: readonly Duplex[] = stages
  if (all.length < 2) throw wrongType(`compose(): two or more streams are needed, not ${all.length}`)
  for (const stage of all) if (!isStream(stage)) throw wrongType(`compose(): not a stream: ${showValue(stage)}`)
  const last = all[all.length - 1] as Duplex & Partial<PassesFailures>

  // pumpify reports a stage that closed early as a mere close, and drops what it has queued when a stage fails. So
  // note the fault here, before pumpify sees it, and let its call of destroy wait for the reader.
  let fault: Error | undefined
  let closing = false
  all.forEach((stage, i) => {
    stage.on('error', (error) => {
      fault ??= error
    })
    // Tracked by events, because third-party streams lack the properties for this.
    let open = 2
    stage.once('end', () => open--)
    stage.once('finish', () => open--)
    stage.on('close', () => {
      if (!closing && open > 0) {
        fault ??= new Error(`stage ${i + 1} of ${all.length} closed before it had ended`)
      }
    })
  })

  // Without autoDestroy and destroy, like pumpify's default; in object mode, which suits bytes as well.
  const Composed = Pumpify.ctor({ autoDestroy: false, destroy: false, objectMode: true, highWaterMark: QUEUED })
  const composed = new Composed() as Pumpify & PassesFailures
  for (const name of HELPERS)
    if (!(name in composed)) Object.defineProperty(composed, name, { value: Readable.prototype[name] })
  // Node's adapters for web streams need these.
  for (const name of ['readableObjectMode', 'writableObjectMode'])
    Object.defineProperty(composed, name, { value: true })
  const destroy = endLikeNode(composed)
  const settle: Destroy = (error, done) => {
    if (closing) {
      done?.(null)
      return composed
    }
    closing = true
    composed.destroy = destroy as typeof composed.destroy
    const known = fault
    if (known === undefined || (error !== null && error !== undefined && error !== known))
      return destroy.call(composed, error, done)
    failWhenDrained(composed, known)
    // An async iterator that ends early asks for this, and waits.
    done?.(null)
    return composed
  }
  composed.destroy = settle as typeof composed.destroy
  for (const stage of all)
    for (const name of ['warning', 'losses']) stage.on(name, (...values: unknown[]) => composed.emit(name, ...values))
  composed.setPipeline(...all)
  // pumpify drops the encoding of written text, and drops it earlier for the last chunk than for others.
  acceptEncodings(composed)
  const end = composed.end as (...all: unknown[]) => typeof composed
  composed.end = (chunk?: unknown, encoding?: unknown, done?: unknown): typeof composed =>
    end.call(composed, withoutEncoding(chunk, encoding), encoding, done)
  composed[passFailures] = () => last[passFailures]?.()
  if (isOfEvents(last)) givesEvents(composed, 'compose()')
  // A third-party stream in first position could not handle it.
  const result: Duplex = acceptsFailures in all[0] ? acceptFailures(composed) : composed
  return result as Composed<Stages>
}

/**
 * Closes a stream when it has ended, and gives it the properties of Node's streams that pumpify's lack.
 * @returns its method `destroy`
 */
function endLikeNode(composed: Pumpify): Destroy {
  const { destroy } = composed as unknown as { destroy: Destroy }
  const { _readableState: reads, _writableState: writes } = composed as object as Internals
  let closed = false
  let errored: Error | null = null
  const properties = {
    closed: () => closed,
    errored: () => errored,
    readableEnded: () => reads.endEmitted,
    writableEnded: () => writes.ending,
    writableFinished: () => writes.finished,
    writableNeedDrain: () => writes.needDrain,
  }
  for (const [name, get] of Object.entries(properties)) Object.defineProperty(composed, name, { get })
  composed.once('close', () => (closed = true))
  for (const event of ['end', 'finish'])
    composed.once(event, () => {
      if (reads.endEmitted && writes.finished) composed.destroy()
    })
  return function (error, done) {
    // Stages that are destroyed by it fail, too.
    if (!composed.destroyed) errored = error ?? null
    return destroy.call(this, error, done)
  }
}
