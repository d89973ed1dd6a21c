import { newChunk } from '../../bytes/chunks.js'
import type { Input } from '../../bytes/input.js'
import { ArrowFault, ArrowLimit } from './fault.js'
import { FlatReader } from './flatbuffer-read.js'
import { CONTINUATION, MAX_BODY, MAX_METADATA, Message, PREFIX_BYTES, VERSION_4, VERSION_5 } from './layout.js'
import { FILE_MAGIC_BYTES, isFile } from './sniff.js'

export interface ArrowMessage {
  readonly kind: number
  readonly header: FlatReader
  readonly metadata: readonly FlatReader[]
  readonly body: Uint8Array<ArrayBuffer>
}

/** Memory for a body larger than this is allocated in steps, because the stated length may be false. */
const FIRST_BYTES = 1_048_576

/** Finds the messages in a stream. */
export class MessageReader {
  /** The offset of the message that is being read. */
  offset = 0
  private message: Omit<ArrowMessage, 'body'> | undefined
  private body = new Uint8Array(0)
  private filled = 0
  private bodyLength = 0
  private state: 'before' | 'inside' | 'after' = 'before'
  private isFile = false

  constructor(private readonly input: Input) {}

  /** The missing part if the input ends here; undefined if it may end here. */
  get missing(): string | undefined {
    if (this.state === 'after' && this.input.left === 0) return undefined
    if (this.message !== undefined || this.input.left > 0) return 'the input ends within a message'
    return this.state === 'before'
      ? 'the input is empty'
      : 'no end mark: the command that wrote this failed or was interrupted'
  }

  /** The rest of the input is ignored. */
  drop(): void {
    this.input.pos = this.input.end
    this.message = undefined
    this.state = 'after'
  }

  /**
   * The next message; undefined if more input is needed.
   * @throws ArrowFault, ArrowLimit, and RangeError when a flatbuffer is damaged
   */
  next(): ArrowMessage | undefined {
    for (;;) {
      if (this.message !== undefined) return this.readBody(this.message)
      if (!this.readPrefix()) return undefined
    }
  }

  /** Reads what precedes a body. @returns whether the input had all of it */
  private readPrefix(): boolean {
    const { input } = this
    if (this.state === 'after' && this.isFile) {
      // The index at the end of an Arrow file.
      input.skip(input.left)
      return false
    }
    if (input.left === 0) return false
    this.offset = input.offset
    if (input.left < PREFIX_BYTES) return false
    const { bytes, pos, end } = input
    if (this.state === 'before' && isFile(bytes.subarray(pos, end))) {
      this.isFile = true
      this.state = 'inside'
      input.skip(FILE_MAGIC_BYTES)
      return true
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset + pos, PREFIX_BYTES)
    if (view.getUint32(0, true) !== CONTINUATION)
      throw new ArrowFault(
        this.isFile ? 'an Arrow file without a stream in it: write a stream' : 'no message where one is due',
      )
    const length = view.getInt32(4, true)
    if (length === 0) {
      if (this.state === 'before') throw new ArrowFault('the stream has no schema')
      this.state = 'after'
      input.skip(PREFIX_BYTES)
      return true
    }
    if (length < 0) throw new ArrowFault('a message of a negative length')
    if (length > MAX_METADATA) throw new ArrowLimit(`metadata of more than ${MAX_METADATA} bytes`)
    if (input.left < PREFIX_BYTES + length) return false
    // A copy, which the `slice` of a Buffer would not make.
    this.readMetadata(new Uint8Array(bytes.subarray(pos + PREFIX_BYTES, pos + PREFIX_BYTES + length)))
    input.skip(PREFIX_BYTES + length)
    this.state = 'inside'
    return true
  }

  private readMetadata(bytes: Uint8Array): void {
    const message = FlatReader.root(bytes)
    const version = message.i16(Message.version)
    if (version !== VERSION_5 && version !== VERSION_4)
      throw new ArrowFault(`metadata of the unknown version ${version + 1}`)
    this.bodyLength = message.i64(Message.bodyLength)
    if (this.bodyLength < 0) throw new ArrowFault('a body of a negative length')
    if (this.bodyLength > MAX_BODY) throw new ArrowLimit(`a body of more than ${MAX_BODY} bytes`)
    this.message = {
      kind: message.i8(Message.kind),
      header: message.neededTable(Message.header),
      metadata: message.tables(Message.metadata),
    }
    this.body = newChunk(Math.min(this.bodyLength, FIRST_BYTES))
    this.filled = 0
  }

  private readBody(message: Omit<ArrowMessage, 'body'>): ArrowMessage | undefined {
    const { input, bodyLength } = this
    const length = Math.min(input.left, bodyLength - this.filled)
    if (length > 0) {
      if (this.filled + length > this.body.length) this.grow(this.filled + length)
      input.copyTo(this.body, this.filled, input.pos, input.pos + length)
      input.skip(length)
      this.filled += length
    }
    if (this.filled < bodyLength) return undefined
    const { body } = this
    this.message = undefined
    this.body = new Uint8Array(0)
    return { ...message, body: body.length === bodyLength ? body : body.subarray(0, bodyLength) }
  }

  private grow(least: number): void {
    const bigger = newChunk(Math.min(this.bodyLength, Math.max(2 * this.body.length, least)))
    bigger.set(this.body.subarray(0, this.filled))
    this.body = bigger
  }
}
