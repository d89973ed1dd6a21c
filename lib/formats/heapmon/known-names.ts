import { StringTable } from '../../event/strings.js'

const MAX_BYTES = 1 << 22
const MAX_NAMES = 1 << 16

/**
 * The names read so far, under numbers that outlive the batches, so that a recurring name is not looked up in the
 * string table of every batch.
 */
export class KnownNames {
  private known = new StringTable()
  /** Per name, its id in the last batch it occurred in. */
  private readonly ids: number[] = []
  private readonly batches: number[] = []
  private strings = new StringTable()
  private batch = 0

  /** Whether the names take so much memory that they should be cleared. */
  get isFull(): boolean {
    return this.known.byteLength > MAX_BYTES || this.known.size > MAX_NAMES
  }

  /** Starts a batch with an empty string table. */
  begin(strings: StringTable): void {
    this.strings = strings
    this.batch++
  }

  /** The number of the name `bytes[start..end)`. */
  number(bytes: Uint8Array, start: number, end: number): number {
    const number = this.known.intern(bytes, start, end)
    if (number === this.ids.length) {
      this.ids.push(0)
      this.batches.push(0)
    }
    return number
  }

  /** The id of the name with this number in the batch's string table. */
  id(number: number): number {
    if (this.batches[number] === this.batch) return this.ids[number]
    this.batches[number] = this.batch
    return (this.ids[number] = this.strings.addFrom(this.known, number))
  }

  /** Clears all names and their numbers. */
  clear(): void {
    this.known = new StringTable()
    this.ids.length = this.batches.length = 0
  }
}
