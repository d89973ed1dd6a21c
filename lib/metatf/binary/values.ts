import { Sink } from '../../bytes/sink.js'
import { HI, LO } from '../../bytes/u64.js'
import { setPair } from './program.js'

const FIRST_CAPACITY = 64

/** Where values come from. */
export const Origin = {
  /** From the event. */
  given: 0,
  /** From nowhere: whatever takes no room will do. */
  absent: 1,
  /** From what the record must hold. */
  implied: 2,
} as const

/** The values of a record that is to be written, in the order of the trace, those that are not stored too. */
export class Values {
  count = 0
  /** How often something is repeated in all. */
  rounds = 0
  /** The position of each value's leaf. */
  positions = new Int32Array(FIRST_CAPACITY)
  /** A pair of words for each: the number, or (LO and HI) where its bytes begin and end in `data`. */
  words = new Uint32Array(2 * FIRST_CAPACITY)
  /** Where each comes from. */
  origin = new Uint8Array(FIRST_CAPACITY)
  readonly data = new Sink(256)

  clear(): void {
    this.count = 0
    this.rounds = 0
    this.data.pos = 0
  }

  /** Adds the pair of words at `from[at]` as a value of leaf p. */
  addPair(p: number, from: Uint32Array, at: number, origin: number = Origin.given): void {
    const k = this.add(p, origin)
    this.words[2 * k] = from[at] as number
    this.words[2 * k + 1] = from[at + 1] as number
  }

  /** Adds a number, modulo 2^64. */
  addNumber(p: number, value: bigint, origin: number = Origin.given): void {
    const k = this.add(p, origin)
    setPair(this.words, k, value)
  }

  addBytes(p: number, bytes: Uint8Array): void {
    const k = this.add(p, Origin.given)
    this.words[2 * k + LO] = this.data.pos
    this.data.append(bytes)
    this.words[2 * k + HI] = this.data.pos
  }

  /** Adds a value that the event does not have: 0, or no bytes. */
  addAbsent(p: number): void {
    const k = this.add(p, Origin.absent)
    this.words[2 * k] = 0
    this.words[2 * k + 1] = 0
  }

  private add(p: number, origin: number): number {
    const k = this.count++
    if (k === this.positions.length) this.grow()
    this.positions[k] = p
    this.origin[k] = origin
    return k
  }

  private grow(): void {
    const { positions, words, origin } = this
    const n = positions.length * 2
    this.positions = new Int32Array(n)
    this.words = new Uint32Array(2 * n)
    this.origin = new Uint8Array(n)
    this.positions.set(positions)
    this.words.set(words)
    this.origin.set(origin)
  }
}
