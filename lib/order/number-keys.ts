import { HI, LO, WORD } from '../bytes/u64.js'
import type { EventBatch } from '../event/batch.js'
import { FieldBit } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'

const HAS_SEQUENCE = FieldBit.sequence

/**
 * Gives each event of a numbered part of a trace its number in that trace, as a key of 64 bits (see `TracePart`). An
 * event that has lost its sequence number has the key of the event before it.
 */
export class NumberKeys {
  private words = new Uint32Array(0)
  private header: TraceHeader | undefined
  /** The number of the event before, and the lowest 32 bits of it. */
  private number = 0
  private last = 0

  /**
   * The keys of the next batch of the part as pairs of words, event i's from `2 * i` (see `LO` and `HI`). Valid until
   * the next call.
   */
  of(batch: EventBatch): Uint32Array {
    const { mask, sequence, count, header } = batch
    if (this.words.length < 2 * count) this.words = new Uint32Array(2 * count)
    if (header !== this.header) {
      this.header = header
      this.number = header.part?.first ?? 1
      this.last = this.number | 0
    }
    const { words } = this
    let { number, last } = this
    for (let i = 0; i < count; i++) {
      if ((mask[i] & HAS_SEQUENCE) !== 0) {
        number += (sequence[i] - last) | 0
        last = sequence[i]
      }
      words[2 * i + LO] = number
      words[2 * i + HI] = Math.floor(number / WORD)
    }
    this.number = number
    this.last = last
    return words
  }
}
