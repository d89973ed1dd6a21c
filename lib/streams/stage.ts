import type { Duplex, Transform } from 'node:stream'
import { transform as through } from 'through2'
import { archiveName } from '../compression/magic.js'
import { isEventBatch, type EventBatch } from '../event/batch.js'
import { EventCollector } from '../event/collector.js'
import { asError, TraceError } from '../event/error.js'
import type { TraceHeader } from '../event/header.js'
import { isBoundary } from '../event/json-record.js'
import { checkOptions, type OptionNames } from '../event/options.js'
import { recycle } from '../event/recycle.js'
import type { BatchTransform, Decoder, Encoder, Stage } from '../event/stage.js'
import type { TraceEvent } from '../event/trace-event.js'
import { asBuffer } from './as-buffer.js'
import { acceptFailures, failing, isFailure, type Failure } from './failure.js'
import { givesEvents } from './gives-events.js'
import { isBytes, isEvent, wrongChunk, type Intake } from './intake.js'
import { clearImmediate, setImmediate } from './timers.js'
import { turns } from './turns.js'
import type { ByteStream, EventStream } from './types.js'

/** Bytes are fed to a stage in pieces of at most this size, so that one huge chunk does not become one huge result. */
const SLICE_BYTES = 65_536

/**
 * Chunks or batches queued before and after a stage. With more in flight, more survive a collection of the young
 * generation, and peak memory doubles; nothing gets faster, because stages run in one thread.
 */
export const QUEUED = 1

/** Options of a stream around a stage. */
export interface StageStreamOptions {
  /**
   * Reuse the memory of written batches, and of chunks from heapflow's own streams, as soon as the stage has finished
   * with them (see `recycle`). They must have no other consumer. Default false.
   */
  recycle?: boolean
  /** The name of the stream in messages about a wrong chunk, such as `hatf.encode()`. */
  name?: string
  /** The header of the trace to which plain events written to the stream belong, until a batch carries another one. */
  header?: TraceHeader
}

const OPTIONS: OptionNames<StageStreamOptions> = { recycle: 'boolean', name: 'string', header: true }

/** A stage, or a function that loads it when the first chunk arrives. */
type Loadable<Of> = Of | (() => Promise<Of>)

/**
 * A decoder as a Transform: bytes in, `EventBatch` objects out.
 * @throws RangeError for unknown options
 */
export function decoderStream(decoder: Loadable<Decoder>, options: StageStreamOptions = {}): EventStream<'bytes'> {
  checkOptions(options, OPTIONS, 'decoderStream')
  const named = { name: 'a decoder', ...options }
  return givesEvents(stageStream(decoder, 'bytes', named), named.name) as Duplex as EventStream<'bytes'>
}

/**
 * An encoder, or any other stage from batches to bytes, as a Transform: events in, as `EventBatch` objects or plain,
 * and bytes (as Buffers) out. At its end it emits `losses` if an encoder dropped anything.
 * @throws RangeError for unknown options
 */
export function encoderStream(
  encoder: Loadable<Stage<EventBatch, Uint8Array>>,
  options: StageStreamOptions = {},
): ByteStream<'events'> {
  checkOptions(options, OPTIONS, 'encoderStream')
  return stageStream(encoder, 'events', { name: 'an encoder', ...options }) as Duplex as ByteStream<'events'>
}

/**
 * A transform of events as a Transform: events in, as `EventBatch` objects or plain, and `EventBatch` objects out.
 * @throws RangeError for unknown options
 */
export function transformStream(
  stage: Loadable<BatchTransform>,
  options: StageStreamOptions = {},
): EventStream<'events'> {
  checkOptions(options, OPTIONS, 'transformStream')
  const named = { name: 'a transform of events', ...options }
  return givesEvents(stageStream(stage, 'events', named), named.name) as Duplex as EventStream<'events'>
}

/** Anything that can be written to a stage stream. */
type Chunk = Uint8Array | string | EventBatch | TraceEvent | Failure

/**
 * The shell around any stage. It takes the next result of the stage only while the consumer wants more, so a stage that
 * expands its input (stride-encoded records, a gzip bomb) holds one result at a time.
 *
 * Plain events are collected into batches. A batch is passed on when it is full, before any other chunk, and at the
 * latest after one turn of the event loop, so that a slow source of events is not held up.
 */
function stageStream<In extends Uint8Array | EventBatch, Out>(
  source: Loadable<Stage<In, Out>>,
  takes: Intake,
  options: StageStreamOptions & { readonly name: string },
): Transform {
  const recycles = options.recycle ?? false
  const collector = new EventCollector(options.name, options.header, (text) => stream.emit('warning', text))
  /** Loaded before anything is fed. */
  let stage = typeof source === 'function' ? (undefined as never) : source
  /** Collected events are being fed between two chunks; a chunk that arrives meanwhile waits. */
  let isFlushing = false
  let waiting: (() => void) | undefined
  let flushes: NodeJS.Immediate | undefined
  /** A chunk that the stage may still read, until it is fed the next one. */
  let last: Uint8Array | undefined
  /** The continuation for when the consumer wants more. */
  let resume: (() => void) | undefined
  let pushed = false
  let passedOn = false
  /** The compression of the first chunk, in words; empty for others. */
  let archive: string | undefined
  /** The number of warnings of the stage that were emitted. */
  let warned = 0

  // In object mode on both sides, for bytes too, so that a `Failure` can follow them in the queue.
  const stream = through(
    { objectMode: true, highWaterMark: QUEUED },
    (chunk: Chunk, encoding, done) => enter(() => accept(chunk, encoding, done)),
    (done) =>
      enter(() => {
        const fault = collector.unfinished()
        if (fault !== undefined) return breakOff(() => fail(fault))
        settle(() => {
          if (guard(() => stage.end())) drain(() => finish(done))
        })
      }),
  ) as Transform
  /** Stops reading (the transform's callback is never called); the error follows the queued results. */
  const fail = failing(stream)

  /** Continues when the stage is loaded and free. */
  function enter(go: () => void): void {
    if (isFlushing) waiting = go
    else if (stage !== undefined) go()
    else
      (source as () => Promise<Stage<In, Out>>)().then((loaded) => {
        stage = loaded
        if (!stream.destroyed) go()
      }, fail)
  }

  function accept(chunk: Chunk, encoding: BufferEncoding, done: () => void): void {
    if (takes === 'bytes' && isBytes(chunk)) {
      feedSlices(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk, 0, done)
    } else if (takes === 'events' && isEventBatch(chunk)) {
      settle(() => {
        collector.header = chunk.header
        feedBatch(chunk, done)
      })
    } else if (takes === 'events' && isEvent(chunk)) {
      if (isBoundary(chunk)) settle(() => begin(chunk, done))
      else collect(chunk, done)
    } else if (isFailure(chunk)) {
      breakOff(() => fail(chunk.error))
    } else {
      breakOff(() => void wrongChunk(chunk, takes, options.name).then(fail))
    }
  }

  function collect(event: TraceEvent, done: () => void): void {
    try {
      collector.add(event)
    } catch (error) {
      breakOff(() => fail(asError(error)))
      return
    }
    if (collector.isFull) settle(done)
    else {
      // A source that has more events writes them within this turn of the event loop.
      flushes ??= setImmediate(flush)
      done()
    }
  }

  /** Takes a header or end record. */
  function begin(record: object, done: () => void): void {
    let header: EventBatch | null
    try {
      header = collector.begin(record)
    } catch (error) {
      breakOff(() => fail(asError(error)))
      return
    }
    if (header === null) done()
    else feedBatch(header, done)
  }

  /** Feeds the collected events to the stage, between two chunks. */
  function flush(): void {
    if (stream.destroyed) return
    isFlushing = true
    settle(() => {
      isFlushing = false
      const go = waiting
      waiting = undefined
      go?.()
    })
  }

  /** Continues after all collected events were fed to the stage. */
  function settle(then: () => void): void {
    // A scheduled call would keep the stream in memory until the event loop turns.
    clearImmediate(flushes)
    flushes = undefined
    const batch = collector.take()
    if (batch === null) then()
    else feedBatch(batch, then)
  }

  /** The input ends here with an error: delivers what the stage holds back, then reports the error. */
  function breakOff(then: () => void): void {
    settle(() => {
      if (guard(() => stage.endTruncated())) drain(then)
    })
  }

  function finish(done: () => void): void {
    const losses = (stage as Partial<Encoder>).losses?.counts
    if (losses !== undefined && losses.size > 0) stream.once('end', () => stream.emit('losses', losses))
    done()
  }

  function feedSlices(chunk: Uint8Array, start: number, done: () => void): void {
    // A loop, because a chunk may have any number of slices that are drained at once.
    for (let from = start; ;) {
      const end = Math.min(from + SLICE_BYTES, chunk.length)
      const slice = (from === 0 && end === chunk.length ? chunk : chunk.subarray(from, end)) as In
      archive ??= archiveName(chunk) ?? ''
      if (!guard(() => stage.feed(slice))) return
      if (recycles && from === 0) {
        if (last !== undefined) recycle(last)
        last = chunk
      }
      const isLast = end === chunk.length
      let isDrained = false
      let isWaiting = false
      drain(() => {
        if (!isWaiting) isDrained = true
        else if (isLast) settleChunk(done)
        else feedSlices(chunk, end, done)
      })
      isWaiting = true
      if (!isDrained) return
      if (isLast) return settleChunk(done)
      from = end
    }
  }

  /** From the callback of a write on, the chunk belongs to its owner again. */
  function settleChunk(done: () => void): void {
    if (!recycles) stage.detach?.()
    done()
  }

  function feedBatch(batch: EventBatch, done: () => void): void {
    passedOn = false
    if (!guard(() => stage.feed(batch as In))) return
    drain(() => {
      if (recycles && stage.consumes === true && !passedOn) recycle(batch)
      done()
    }, batch)
  }

  /** @param batch the fed batch; `passedOn` is set if it is delivered unchanged */
  function drain(done: () => void, batch?: EventBatch): void {
    for (;;) {
      let result: Out | null = null
      if (!guard(() => (result = stage.next()))) return
      if (result === null) break
      pushed = true
      if ((result as unknown) === batch) passedOn = true
      if (!stream.push((result as unknown) instanceof Uint8Array ? asBuffer(result) : result)) {
        resume = () => drain(done, batch)
        return
      }
    }
    warn()
    done()
  }

  /** Calls the stage. If it throws, fails the stream and returns false. */
  function guard(call: () => void): boolean {
    try {
      call()
      return true
    } catch (error) {
      warn()
      fail(explained(asError(error)))
      return false
    }
  }

  /** An error that stands for one about compressed bytes, of which nothing could be read. */
  function explained(error: Error): Error {
    if (!archive || pushed || !(error instanceof TraceError) || error.offset !== 0) return error
    const reason = `the input is ${archive}: put decompress() before ${options.name}`
    return new TraceError('ERR_TRACE_UNKNOWN_FORMAT', reason, { format: error.format ?? 'unknown', offset: 0 })
  }

  function warn(): void {
    const warnings = stage.warnings ?? []
    while (warned < warnings.length) stream.emit('warning', warnings[warned++])
  }

  const turn = turns()
  const read = stream._read
  stream._read = (size) => {
    if (resume === undefined) return read.call(stream, size)
    const turning = turn()
    if (turning !== undefined) {
      void turning.then(() => stream.destroyed || stream._read(size))
      return
    }
    const go = resume
    resume = undefined
    pushed = false
    go()
    // Node calls again only after a push. If there was none, the transform's own callback may be waiting for the call.
    if (!pushed) read.call(stream, size)
  }
  stream.once('close', () => stage?.dispose?.())
  return acceptFailures(stream)
}
