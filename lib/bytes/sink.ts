/**
 * A growing buffer that encoders write into. Hot loops call `reserve(n)` once per record, then write `bytes[pos++]`
 * without further checks. `take` hands over what was written.
 */
export class Sink {
  bytes: Uint8Array
  /** Where the next byte goes. */
  pos = 0

  constructor(capacity = 65_536) {
    this.bytes = new Uint8Array(capacity)
  }

  /** Makes room for `n` more bytes; `bytes` may be another array afterwards. */
  reserve(n: number): void {
    if (this.pos + n > this.bytes.length) this.grow(n)
  }

  /** Appends a copy of `source`. */
  append(source: Uint8Array): void {
    const { length } = source
    this.reserve(length)
    // A call of `set` costs more than a short loop.
    if (length < 32) for (let i = 0; i < length; i++) this.bytes[this.pos + i] = source[i] as number
    else this.bytes.set(source, this.pos)
    this.pos += length
  }

  /** The bytes written since the last call, as a copy of their own. */
  take(): Uint8Array {
    const taken = this.bytes.slice(0, this.pos)
    this.pos = 0
    return taken
  }

  private grow(n: number): void {
    const bigger = new Uint8Array(Math.max(this.bytes.length * 2, this.pos + n))
    bigger.set(this.bytes.subarray(0, this.pos))
    this.bytes = bigger
  }
}
