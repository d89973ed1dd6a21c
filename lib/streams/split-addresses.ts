import { pipeline, Writable, type Readable } from 'node:stream'
import { checkOptions } from '../event/options.js'
import { FIELD_NAMES } from '../formats/hatf/layout.js'
import { Joiner } from '../formats/hatf/split/join.js'
import { Separator } from '../formats/hatf/split/separate.js'
import { Tracks, type HatfField, type SplitOptions } from '../formats/hatf/split/tracks.js'
import { acceptFailures, isFailure, type Failure } from './failure.js'
import { byteStream } from './generator.js'
import { isBytes, wrongChunk } from './intake.js'
import { Side } from './side.js'
import { QUEUED } from './stage.js'
import type { ByteStream, Done } from './types.js'
import { asBuffer } from './as-buffer.js'

/**
 * A Writable for the bytes of HATF with several readable sides: the trace without the bytes of some fields, and a
 * stream of bytes for each of the fields. It waits until none of its sides is full, so all of them have to be read: a
 * consumer that reads one to its end before it begins with another stalls as soon as that is full.
 *
 * An error of the trace or of any side becomes the error of all sides, after everything queued in them was read.
 */
export class HatfSplitter extends Writable {
  /** The rest of the trace. */
  readonly main: Readable
  /** The bytes of each field, by its name. */
  readonly streams: ReadonlyMap<HatfField, Readable>
  private readonly separator: Separator
  /** In the order of the separator's tracks. */
  private readonly sides: Side[]
  /** Continues when all sides want more. */
  private resume: (() => void) | undefined

  constructor(options: SplitOptions = {}) {
    super({ objectMode: true, highWaterMark: QUEUED })
    acceptFailures(this)
    this.separator = new Separator(options)
    const { names } = new Tracks(options)
    this.sides = [undefined, ...names].map(
      () =>
        new Side(
          () => this.goOn(),
          (error) => this.destroy(error),
        ),
    )
    this.main = this.sides[0]
    this.streams = new Map(names.map((name, i) => [name, this.sides[i + 1]]))
  }

  /** The stream of addresses. @throws RangeError when they are not among the fields that were requested */
  get addresses(): Readable {
    const addresses = this.streams.get('address')
    if (addresses === undefined) throw new RangeError('addresses are not among the fields that are split off')
    return addresses
  }

  override _write(chunk: Uint8Array | string | Failure, encoding: BufferEncoding, done: Done): void {
    if (isFailure(chunk)) {
      done(chunk.error)
      return
    }
    if (!isBytes(chunk)) {
      void wrongChunk(chunk, 'bytes', 'hatf.splitAddresses()').then(done)
      return
    }
    this.separator.feed(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk)
    this.drain(done, done)
  }

  override _final(done: Done): void {
    this.separator.end()
    this.drain(() => {
      for (const side of this.sides) side.finish()
      done()
    }, done)
  }

  override _destroy(error: Error | null, done: Done): void {
    this.resume = undefined
    for (const side of this.sides) side.fail(error ?? new Error('the trace was closed before it had ended'))
    done(error)
  }

  /** Passes on the separator's output, as fast as the sides accept it. */
  private drain(then: () => void, fail: (error: Error) => void): void {
    for (;;) {
      let piece
      try {
        piece = this.separator.next()
      } catch (error) {
        fail(error as Error)
        return
      }
      if (piece === null) break
      piece.tracks.forEach((bytes, t) => this.sides[t].give(bytes))
      if (this.sides.some((side) => side.isFull)) {
        this.resume = () => this.drain(then, fail)
        return
      }
    }
    then()
  }

  private goOn(): void {
    if (this.resume === undefined || this.sides.some((side) => side.isFull)) return
    const { resume } = this
    this.resume = undefined
    resume()
  }
}

/**
 * Takes the unencoded addresses out of HATF: those stored with interpretation none.
 * @param options other fields, or encoded ones too
 * @returns a Writable with the readable sides `main` and `addresses`, or one for each field in `streams`
 */
export function splitAddresses(options?: SplitOptions): HatfSplitter {
  return new HatfSplitter(options)
}

/**
 * Puts addresses back that `splitAddresses` took out: byte for byte the same HATF. Parts that do not match are a
 * `TraceError`.
 * @param main the rest of the trace
 */
export function joinAddresses(main: Readable, addresses: Readable): Readable {
  return pipeline(main, joinStream({ address: addresses }), () => {})
}

/**
 * Puts fields back that were split off, as a stream of the rest of the trace.
 * @param streams the bytes of each field
 * @param options whether encoded bytes were taken out too
 */
export function joinStream(
  streams: Readonly<Partial<Record<HatfField, Readable>>>,
  options: { encoded?: boolean } = {},
): ByteStream<'bytes'> {
  checkOptions(options, { encoded: 'boolean' }, 'joinStream')
  const fields = FIELD_NAMES.filter((name) => streams[name] !== undefined)
  const sources = fields.map((name) => streams[name] as Readable)
  // An error that occurs before the stream is read must wait until then.
  for (const source of sources) source.on('error', () => {})
  return byteStream('hatf.joinStream()', async function* (main) {
    const joiner = new Joiner({ ...options, fields })
    const inputs = [main, ...sources].map((source: AsyncIterable<Uint8Array>) => source[Symbol.asyncIterator]())
    try {
      for (;;) {
        for (let bytes = joiner.next(); bytes !== null; bytes = joiner.next()) yield asBuffer(bytes)
        const { wanted } = joiner
        if (wanted < 0) return
        const input = await inputs[wanted].next()
        if (input.done === true) joiner.end(wanted)
        else joiner.feed(wanted, input.value)
      }
    } finally {
      for (const source of sources) source.destroy()
    }
  })
}
