import { widened } from '../../bytes/widened.js'
import { parseFrame } from '../../event/frame.js'
import { encodeText, type StringTable } from '../../event/strings.js'
import { bytesReadAgain } from './names.js'
import { grown } from './tables.js'

const UNKNOWN = 0xffff_ffff
const INLINED = ' inlined'

/** Numbers of the texts of frames, the same in all batches, and facts about each that are needed often. */
export class FrameNumbers {
  /** The texts by number. */
  readonly texts: string[] = []
  /** By number: whether the frame is inlined. */
  inlined = new Uint8Array(1024)
  /** By number: the maximum number of bytes of its text when it is read again. */
  bytes = new Uint32Array(1024)
  private readonly numbers = new Map<string, number>()
  private strings: StringTable | undefined
  /** The number of strings that the table had at the beginning of the batch. */
  private size = 0
  /** The number of each string of the batch that was looked up. */
  private known = new Uint32Array(0)

  /** @param isRaw whether the file is raw, so that texts are read back unchanged */
  constructor(private readonly isRaw: boolean) {}

  /** Begins a batch with these strings. */
  begin(strings: StringTable): void {
    // Batches may share a table that grows.
    if (strings === this.strings && strings.size === this.size) return
    this.strings = strings
    this.size = strings.size
    if (this.known.length < strings.size) this.known = grown(this.known, strings.size)
    this.known.fill(UNKNOWN, 0, strings.size)
  }

  /** The number of a string of the batch. */
  ofString(id: number): number {
    const known = this.known[id]
    if (known !== UNKNOWN) return known
    return (this.known[id] = this.of((this.strings as StringTable).text(id)))
  }

  of(text: string): number {
    const known = this.numbers.get(text)
    if (known !== undefined) return known
    const number = this.texts.length
    this.texts.push(text)
    this.numbers.set(text, number)
    if (number === this.inlined.length) {
      this.inlined = widened(this.inlined, 2 * number)
      this.bytes = grown(this.bytes, number + 1)
    }
    this.inlined[number] = text.endsWith(INLINED) && parseFrame(text).inlined === true ? 1 : 0
    this.bytes[number] = this.isRaw ? encodeText(text).length : bytesReadAgain(text)
    return number
  }
}
