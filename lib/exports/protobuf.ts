import { widened } from '../bytes/widened.js'

const encoder = new TextEncoder()
const [VARINT, LENGTH_DELIMITED] = [0, 2]
const MAX_INT64 = 2n ** 63n - 1n

/** A message in the encoding of Protocol Buffers: fields are appended. */
export class Message {
  private bytes = new Uint8Array(256)
  /** For lists, which are written after their length. */
  private list: Message | undefined
  /** The number of bytes. */
  length = 0

  /** A field with an integer, at most 2^63 - 1: a larger one is capped. Zero is the default, and left out. */
  integer(field: number, value: number | bigint): void {
    if (Number(value) === 0) return
    this.varint(field * 8 + VARINT)
    this.varint(value)
  }

  /** A field with a list of integers, packed. */
  integers(field: number, values: Iterable<number | bigint>): void {
    const list = (this.list ??= new Message())
    list.clear()
    for (const value of values) list.varint(value)
    this.message(field, list)
  }

  /** A field with a text; an empty one is written, too. */
  text(field: number, text: string): void {
    this.append(field, encoder.encode(text))
  }

  message(field: number, message: Message): void {
    this.append(field, message.view())
  }

  /** The bytes, in place. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length)
  }

  /** The bytes; the message is empty afterwards. */
  take(): Uint8Array {
    const taken = this.view()
    this.bytes = new Uint8Array(256)
    this.length = 0
    return taken
  }

  /** Empties it, and keeps the memory. */
  clear(): void {
    this.length = 0
  }

  private append(field: number, bytes: Uint8Array): void {
    this.varint(field * 8 + LENGTH_DELIMITED)
    this.varint(bytes.length)
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  private varint(value: number | bigint): void {
    this.reserve(10)
    if (typeof value === 'number' && value < 2 ** 31) {
      let rest = value
      for (; rest > 0x7f; rest >>>= 7) this.bytes[this.length++] = (rest & 0x7f) | 0x80
      this.bytes[this.length++] = rest
      return
    }
    let rest = BigInt(value)
    if (rest > MAX_INT64) rest = MAX_INT64
    for (; rest > 0x7fn; rest >>= 7n) this.bytes[this.length++] = Number(rest & 0x7fn) | 0x80
    this.bytes[this.length++] = Number(rest)
  }

  private reserve(length: number): void {
    if (this.length + length <= this.bytes.length) return
    this.bytes = widened(this.bytes, Math.max(2 * this.bytes.length, this.length + length))
  }
}
