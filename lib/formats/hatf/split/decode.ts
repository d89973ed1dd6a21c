import type { EventBatch } from '../../../event/batch.js'
import { malformed, type TraceError } from '../../../event/error.js'
import { checkOptions } from '../../../event/options.js'
import type { Decoder } from '../../../event/stage.js'
import { DECODE_OPTIONS, HatfDecoder, type HatfDecodeOptions } from '../decode.js'
import { Joiner } from './join.js'
import { formOf } from './layout.js'
import { Unpacker, type Part } from './unpack.js'

const NOTHING: Uint8Array = new Uint8Array(0)

/**
 * Reads the single-file form of split HATF. The events of a block are delivered once the whole block has passed its
 * checks.
 */
export class SplitDecoder implements Decoder {
  private readonly unpacker = new Unpacker()
  private joiner = new Joiner()
  /** Reads the joined records. Each header starts a new one. */
  private records: HatfDecoder | undefined
  /** Whether `records` was ended or truncated. It is dropped once it has delivered the events that it held back. */
  private isClosing = false
  /** Whether the last block is still being joined. */
  private isJoining = false
  /** Totals of the blocks since the header. */
  private totalRecords = 0
  private totalBytes = 0
  private delivered = 0
  /** A fault, completed by the number of the first event that could not be read. */
  private fault: ((event: number) => TraceError) | undefined

  constructor(private readonly options: HatfDecodeOptions = {}) {
    checkOptions(options, DECODE_OPTIONS, 'SplitDecoder')
  }

  feed(chunk: Uint8Array): void {
    this.unpacker.feed(chunk)
  }

  detach(): void {
    this.unpacker.detach()
  }

  /** @throws TraceError when the input is truncated or was changed anywhere */
  next(): EventBatch | null {
    for (;;) {
      const batch = this.nextBatch()
      if (batch !== null) {
        this.delivered += batch.count
        return batch
      }
      if (this.isClosing) {
        this.records = undefined
        this.isClosing = false
      }
      if (this.fault !== undefined) throw this.fault(this.delivered + 1)
      if (this.isJoining) this.join()
      else if (!this.unpack()) return null
    }
  }

  end(): void {
    this.unpacker.end()
  }

  endTruncated(): void {
    this.unpacker.endTruncated()
    this.cutRecords()
  }

  private nextBatch(): EventBatch | null {
    try {
      return this.records?.next() ?? null
    } catch (error) {
      this.records = undefined
      this.fail(`in this block, ${(error as Error).message}`)
      return null
    }
  }

  /** Passes some joined records to the decoder, and ends the block when there are no more. */
  private join(): void {
    try {
      const bytes = this.joiner.next()
      if (bytes !== null) {
        this.records?.feed(bytes)
        return
      }
      this.isJoining = false
      if (!this.joiner.isDrained || this.joiner.records !== this.totalRecords)
        this.fail('the streams of a block do not fit together')
    } catch (error) {
      this.fail(`in this block, ${(error as Error).message}`)
    }
  }

  /** Reads the next part. @returns false if it is not complete yet */
  private unpack(): boolean {
    const { unpacker } = this
    const part = unpacker.next()
    if (part !== null) this.accept(part)
    else if (unpacker.fault !== undefined) this.stop(unpacker.fault)
    return part !== null || unpacker.fault !== undefined
  }

  private accept(part: Part): void {
    if (part.kind === 'header') {
      this.joiner = new Joiner(part.options)
      this.records = new HatfDecoder(this.options)
      this.totalRecords = 0
      this.totalBytes = 0
    } else if (part.kind === 'block') {
      part.tracks.forEach((bytes, t) => {
        this.joiner.feed(t, bytes)
        this.totalBytes += bytes.length
      })
      this.totalRecords += part.records
      this.isJoining = true
    } else if (part.records !== this.totalRecords || part.bytes !== this.totalBytes) {
      this.fail(
        `${this.totalRecords} records of ${this.totalBytes} bytes, where the end says ${part.records} of ${part.bytes}`,
      )
    } else {
      this.records?.end()
      this.isClosing = true
    }
  }

  /** An offset within the joined records would be meaningless in the file, so the error has the block's offset. */
  private fail(reason: string): void {
    const { offset } = this.unpacker
    this.stop((event) => malformed(reason, { format: 'hatf', offset, event }))
  }

  /** Keeps a fault until the events before it have been delivered. */
  private stop(fault: (event: number) => TraceError): void {
    this.fault = fault
    this.cutRecords()
  }

  private cutRecords(): void {
    this.records?.endTruncated()
    this.isClosing = true
  }
}

/** Reads HATF in either form, a stream of records or the single-file form, which it recognizes by the first bytes. */
export class EitherDecoder implements Decoder {
  private decoder: Decoder | undefined
  /** The first bytes, until they show the form. */
  private head: Uint8Array = NOTHING

  constructor(private readonly options: HatfDecodeOptions = {}) {
    checkOptions(options, DECODE_OPTIONS, 'EitherDecoder')
  }

  feed(chunk: Uint8Array): void {
    if (this.decoder === undefined) this.begin(chunk, false)
    else this.decoder.feed(chunk)
  }

  detach(): void {
    this.decoder?.detach?.()
  }

  /** @throws TraceError as `HatfDecoder` and `SplitDecoder` do */
  next(): EventBatch | null {
    return this.decoder?.next() ?? null
  }

  end(): void {
    if (this.decoder === undefined) this.begin(NOTHING, true)
    this.decoder?.end()
  }

  endTruncated(): void {
    if (this.decoder === undefined) this.begin(NOTHING, true)
    this.decoder?.endTruncated()
  }

  private begin(chunk: Uint8Array, isWhole: boolean): void {
    const head = Buffer.concat([this.head, chunk])
    const form = formOf(head, isWhole)
    this.head = form === undefined ? head : NOTHING
    if (form === undefined) return
    this.decoder = form === 'split' ? new SplitDecoder(this.options) : new HatfDecoder(this.options)
    this.decoder.feed(head)
  }
}
