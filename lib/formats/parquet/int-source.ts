import { HI, LO } from '../../bytes/u64.js'
import { DeltaReader } from './delta.js'
import { ParquetFault } from './fault.js'
import { HybridReader } from './hybrid-read.js'
import { Encoding, Physical } from './layout.js'

/** Reads the integers of a page one after the other, as pairs of words to `target[2 * from..]`. */
export interface IntSource {
  /** @throws ParquetFault if there are fewer */
  read(target: Uint32Array, from: number, count: number): void
}

/**
 * The integers of a page, or of a dictionary.
 * @param physical their type, as in `Physical`; floating-point numbers must be integers
 * @throws ParquetFault
 */
export function intSource(bytes: Uint8Array, encoding: number, physical: number, isUnsigned: boolean): IntSource {
  const size = physical === Physical.int32 || physical === Physical.float ? 4 : 8
  switch (encoding) {
    case Encoding.plain:
      return new PlainInts(bytes, size, 1, physical, isUnsigned)
    case Encoding.split:
      return new PlainInts(bytes, size, Math.floor(bytes.length / size), physical, isUnsigned)
    case Encoding.deltaIntegers: {
      const reader = new DeltaReader(bytes)
      if (physical === Physical.int64) return reader
      if (physical === Physical.int32) return new NarrowInts(reader, isUnsigned)
    }
  }
  throw new ParquetFault(`a page with the unknown encoding ${encoding}`)
}

/** Integers of 4 or 8 bytes, or floating-point numbers. */
class PlainInts implements IntSource {
  private next = 0
  private readonly count: number
  private readonly number = new DataView(new ArrayBuffer(8))

  /** @param stride 1 if the bytes of a number are together; otherwise how far they are from each other */
  constructor(
    private readonly bytes: Uint8Array,
    private readonly size: number,
    private readonly stride: number,
    private readonly physical: number,
    private readonly isUnsigned: boolean,
  ) {
    this.count = Math.floor(bytes.length / size)
  }

  read(target: Uint32Array, from: number, count: number): void {
    const left = this.count - this.next
    if (count > left) {
      this.read(target, from, left)
      throw new ParquetFault('a page has fewer values than it says').after(left)
    }
    const { bytes, stride, size, physical, isUnsigned } = this
    const isFloat = physical === Physical.float || physical === Physical.double
    let at = stride === 1 ? this.next * size : this.next
    const step = stride === 1 ? size : 1
    this.next += count
    for (let i = from; i < from + count; i++, at += step) {
      const lo = word(bytes, at, stride)
      const hi = size === 8 ? word(bytes, at + 4 * stride, stride) : isUnsigned ? 0 : lo >> 31
      target[2 * i + LO] = lo
      target[2 * i + HI] = hi
      if (isFloat && !this.round(target, i)) throw new ParquetFault('a value is not an integer').after(i - from)
    }
  }

  /** Makes an integer of a floating-point number. @returns whether it is one */
  private round(target: Uint32Array, i: number): boolean {
    this.number.setUint32(0, target[2 * i + LO], true)
    this.number.setUint32(4, target[2 * i + HI], true)
    const value = this.physical === Physical.float ? this.number.getFloat32(0, true) : this.number.getFloat64(0, true)
    if (!Number.isSafeInteger(value)) return false
    target[2 * i + LO] = value
    target[2 * i + HI] = Math.floor(value / 0x1_0000_0000)
    return true
  }
}

/** A word, the lowest byte first. */
function word(bytes: Uint8Array, at: number, stride: number): number {
  return bytes[at] | (bytes[at + stride] << 8) | (bytes[at + 2 * stride] << 16) | (bytes[at + 3 * stride] << 24)
}

/** Integers of 32 bits, which are computed with 64. */
class NarrowInts implements IntSource {
  constructor(
    private readonly source: IntSource,
    private readonly isUnsigned: boolean,
  ) {}

  read(target: Uint32Array, from: number, count: number): void {
    this.source.read(target, from, count)
    for (let i = from; i < from + count; i++) target[2 * i + HI] = this.isUnsigned ? 0 : target[2 * i + LO] >> 31
  }
}

/** Integers of a dictionary, by their positions in it. */
export class IndexedInts implements IntSource {
  constructor(
    private readonly indices: Indices,
    private readonly dictionary: Uint32Array,
  ) {}

  read(target: Uint32Array, from: number, count: number): void {
    const ids = new Uint32Array(target.buffer, target.byteOffset + 8 * from, count)
    let fault: ParquetFault | undefined
    try {
      this.indices.read(ids, 0, count)
    } catch (error) {
      if (!(error instanceof ParquetFault)) throw error
      fault = error
    }
    const { dictionary } = this
    // Backwards, because the indices are where the integers go.
    for (let i = (fault?.good ?? count) - 1; i >= 0; i--) {
      const id = ids[i]
      target[2 * (from + i)] = dictionary[2 * id]
      target[2 * (from + i) + 1] = dictionary[2 * id + 1]
    }
    if (fault !== undefined) throw fault
  }
}

/** Positions in a dictionary: the data of a page begin with their width in bits. */
export class Indices {
  private readonly reader: HybridReader

  constructor(
    bytes: Uint8Array,
    private readonly size: number,
  ) {
    this.reader = new HybridReader(bytes.subarray(1), bytes[0] ?? 0)
  }

  /** @throws ParquetFault if there are fewer, or one is not in the dictionary */
  read(target: Uint32Array, from: number, count: number): void {
    try {
      this.reader.read(target, from, count)
    } catch (error) {
      if (error instanceof ParquetFault) this.check(target, from, error.good)
      throw error
    }
    this.check(target, from, count)
  }

  private check(target: Uint32Array, from: number, count: number): void {
    for (let i = from; i < from + count; i++)
      if (target[i] >= this.size) throw new ParquetFault('an index that its dictionary does not have').after(i - from)
  }
}
