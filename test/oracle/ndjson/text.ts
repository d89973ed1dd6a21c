/** A constant text that is written and compared in words of four bytes. */
export class Text {
  readonly length: number
  private readonly words: Int32Array
  /** Which bits of the last word belong to the text. */
  private readonly lastMask: number

  constructor(private readonly bytes: Uint8Array) {
    this.length = bytes.length
    const padded = new DataView(new ArrayBuffer((bytes.length + 3) & ~3))
    new Uint8Array(padded.buffer).set(bytes)
    this.words = Int32Array.from({ length: padded.byteLength >> 2 }, (_, i) => padded.getInt32(4 * i, true))
    this.lastMask = -1 >>> (8 * (padded.byteLength - bytes.length))
  }

  /** Writes the text at `pos`, and up to three zeros behind it; returns the position after the text. */
  write(view: DataView, pos: number): number {
    const { words } = this
    for (let i = 0; i < words.length; i++) view.setInt32(pos + 4 * i, words[i], true)
    return pos + this.length
  }

  /** Whether the text stands at `pos`. */
  matches(view: DataView, pos: number): boolean {
    const { words } = this
    const last = words.length - 1
    if (pos + 4 * words.length > view.byteLength) return this.matchesAtEnd(view, pos)
    for (let i = 0; i < last; i++) if (view.getInt32(pos + 4 * i, true) !== words[i]) return false
    return ((view.getInt32(pos + 4 * last, true) ^ words[last]) & this.lastMask) === 0
  }

  /** Where the last word would reach beyond the bytes. */
  private matchesAtEnd(view: DataView, pos: number): boolean {
    const { bytes } = this
    if (pos + bytes.length > view.byteLength) return false
    for (let i = 0; i < bytes.length; i++) if (view.getUint8(pos + i) !== bytes[i]) return false
    return true
  }
}
