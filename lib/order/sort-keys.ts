import { HI, LO, WORD } from '../bytes/u64.js'
import { U64Column, columnOf, type EventBatch } from '../event/batch.js'
import { FIELDS, FieldBit } from '../event/fields.js'
import type { OrderField } from './order-fields.js'

const HAS_SEQUENCE = FieldBit.sequence
/** Maps the order of signed words to the order of unsigned ones. */
const SIGN = 0x8000_0000
/** The high word of the first sequence number's key, in the middle of the range. */
const MIDDLE = 0x8000_0000

/**
 * The origin of the sequence numbers of a trace, which may wrap around. Merged inputs share one, because only then can
 * their keys be compared.
 */
export interface SequenceOrigin {
  /** The first number read. */
  number?: number
}

/**
 * Gives each event of a trace a 64-bit key, so that the order of the keys is the order of a field.
 *
 * Sequence numbers wrap, so each is assumed to be less than 2^31 away from the previous one. An event without the field
 * has the key of the previous event, and so stays after it where equal keys keep their order; if there is none, its key
 * is zero.
 */
export class SortKeys {
  /** How many events so far had the field. */
  keyed = 0
  private readonly has: number
  private readonly position: number
  private words = new Uint32Array(0)
  /** The key of the previous event. */
  private lo = 0
  private hi = 0
  /** The previous sequence number; undefined until there is one. */
  private last: number | undefined

  constructor(
    readonly field: OrderField,
    private readonly origin: SequenceOrigin = {},
  ) {
    this.position = FIELDS.findIndex(({ name }) => name === field)
    this.has = FieldBit[field]
  }

  /**
   * The keys of the next batch of the trace as pairs of words, event i's from `2 * i` (see `LO` and `HI`). Valid until
   * the next call.
   */
  of(batch: EventBatch): Uint32Array {
    if (this.words.length < 2 * batch.count) this.words = new Uint32Array(2 * batch.count)
    const column = batch[columnOf(this.position)]
    if (this.field === 'sequence') this.unwrap(batch)
    else if (column instanceof U64Column) this.copyWide(batch, column.words)
    else this.copyNarrow(batch, column)
    return this.words
  }

  private copyWide({ mask, count }: EventBatch, column: Uint32Array): void {
    const { words, has } = this
    let { lo, hi, keyed } = this
    for (let i = 0; i < count; i++) {
      if ((mask[i] & has) !== 0) {
        lo = column[2 * i + LO]
        hi = column[2 * i + HI]
        keyed++
      }
      words[2 * i + LO] = lo
      words[2 * i + HI] = hi
    }
    this.lo = lo
    this.hi = hi
    this.keyed = keyed
  }

  private copyNarrow({ mask, count }: EventBatch, column: Uint8Array | Uint32Array | Int32Array): void {
    const { words, has } = this
    const sign = column instanceof Int32Array ? SIGN : 0
    let { lo, keyed } = this
    for (let i = 0; i < count; i++) {
      if ((mask[i] & has) !== 0) {
        lo = column[i] ^ sign
        keyed++
      }
      words[2 * i + LO] = lo
      words[2 * i + HI] = 0
    }
    this.lo = lo
    this.keyed = keyed
  }

  private unwrap({ mask, sequence, count }: EventBatch): void {
    const { words } = this
    let { lo, hi, keyed, last } = this
    for (let i = 0; i < count; i++) {
      if ((mask[i] & HAS_SEQUENCE) !== 0) {
        const number = sequence[i]
        if (last === undefined) {
          last = this.origin.number ??= number
          lo = (last ^ SIGN) >>> 0
          hi = MIDDLE
        }
        lo += (number - last) | 0
        if (lo < 0) {
          lo += WORD
          hi--
        } else if (lo >= WORD) {
          lo -= WORD
          hi++
        }
        last = number
        keyed++
      }
      words[2 * i + LO] = lo
      words[2 * i + HI] = hi
    }
    this.lo = lo
    this.hi = hi
    this.keyed = keyed
    this.last = last
  }
}
