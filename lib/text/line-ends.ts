import { CR, LF } from './ascii.js'

/** Takes the CR from CR LF if the first line ends so, for readers of lines that end in LF. */
export class LineEnds {
  /** Whether lines end in CR LF; undefined before the end of the first one. */
  isPair: boolean | undefined
  /** The last byte is CR, and what follows it is not known. */
  private isHeld = false

  /** The next bytes without these CR. */
  plain(chunk: Uint8Array): Uint8Array {
    if (this.isPair === false || chunk.length === 0) return chunk
    const feed = chunk.indexOf(LF)
    if (this.isPair === undefined && feed >= 0) this.isPair = feed === 0 ? this.isHeld : chunk[feed - 1] === CR
    const isBehind = this.isHeld && feed !== 0
    this.isHeld = this.isPair !== false && chunk.at(-1) === CR
    if (this.isPair === false && !isBehind) return chunk
    const bytes = new Uint8Array(chunk.length + 1)
    let length = 0
    if (isBehind) bytes[length++] = CR
    const end = chunk.length - (this.isHeld ? 1 : 0)
    for (let i = 0; i < end; i++)
      if (this.isPair !== true || chunk[i] !== CR || chunk[i + 1] !== LF) bytes[length++] = chunk[i]
    return bytes.subarray(0, length)
  }
}
