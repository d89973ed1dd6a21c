import { ParquetFault } from './fault.js'

/* Reads Thrift's compact protocol: doc/specs/thrift-compact-protocol.md of apache/thrift. */

const [TRUE, FALSE, BYTE, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT] = [1, 2, 3, 6, 7, 8, 9, 10, 11, 12] as const
/** Values of a file's metadata are nested less deeply. */
const MAX_DEPTH = 16
/** A list with this number in its head has its length after it. */
const LONG_LIST = 15

/** Reads values one after the other. It is an error if a value is missing or has another type. */
export class CompactInput {
  /** @param what the name of the bytes in errors */
  constructor(
    private readonly bytes: Uint8Array,
    public at: number,
    private readonly what: string,
  ) {}

  /** Reads a struct. @param take reads the value of a field, or skips it */
  struct(take: (id: number, type: number) => void): void {
    let id = 0
    for (let head = this.byte(); head !== 0; head = this.byte()) {
      id = head >>> 4 === 0 ? this.zigzag() : id + (head >>> 4)
      take(id, head & 15)
    }
  }

  /** A struct as the value of a field or an item of a list. */
  structOf(type: number, take: (id: number, type: number) => void): void {
    if (type !== STRUCT) throw this.fault('has a value of a wrong type')
    this.struct(take)
  }

  /** A list: `take` reads an item. */
  list(type: number, take: (type: number) => void): void {
    for (const of of this.items(type)) take(of)
  }

  /** The types of a list's items, each of which must be read before the next one. */
  *items(type: number): Generator<number> {
    if (type !== LIST && type !== SET) throw this.fault('has a value of a wrong type')
    const head = this.byte()
    const count = head >>> 4 === LONG_LIST ? this.varint() : head >>> 4
    // Each item takes at least a byte, so the number of items is at most the number of bytes.
    this.pass(0, count)
    for (let i = 0; i < count; i++) yield head & 15
  }

  /** A signed integer; beyond 53 bits it is not exact. */
  integer(type: number): number {
    if (type < BYTE || type > I64) throw this.fault('has a value of a wrong type')
    return type === BYTE ? (this.byte() << 24) >> 24 : this.zigzag()
  }

  /** A boolean as the value of a field. */
  boolean(type: number): boolean {
    if (type !== TRUE && type !== FALSE) throw this.fault('has a value of a wrong type')
    return type === TRUE
  }

  /** Bytes or a string, in place. */
  binary(type: number): Uint8Array {
    if (type !== BINARY) throw this.fault('has a value of a wrong type')
    const length = this.varint()
    this.pass(length)
    return this.bytes.subarray(this.at - length, this.at)
  }

  /** Passes over the value of a field. */
  skip(type: number, depth = 1): void {
    if (depth > MAX_DEPTH) throw this.fault('is nested too deeply')
    if (type === TRUE || type === FALSE) return
    if (type === BYTE) this.pass(1)
    else if (type > BYTE && type <= I64) this.varint()
    else if (type === DOUBLE) this.pass(8)
    else if (type === BINARY) this.pass(this.varint())
    else if (type === STRUCT) this.struct((_, of) => this.skip(of, depth + 1))
    // A boolean takes a byte in a list.
    else if (type === LIST || type === SET) this.list(type, (of) => this.skip(Math.max(of, BYTE), depth + 1))
    else if (type === MAP) {
      const count = this.varint()
      const types = count === 0 ? 0 : this.byte()
      this.pass(0, count)
      for (let i = 0; i < count; i++) {
        this.skip(Math.max(types >>> 4, BYTE), depth + 1)
        this.skip(Math.max(types & 15, BYTE), depth + 1)
      }
    } else throw this.fault('has an unknown type')
  }

  private zigzag(): number {
    const value = this.varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  /** A non-negative integer in groups of 7 bits; bits beyond 53 do not matter to lengths, which are checked. */
  private varint(): number {
    let value = 0
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.byte()
      value += (byte & 0x7f) * unit
      if (byte < 0x80) return value
      if (unit > Number.MAX_SAFE_INTEGER) throw this.fault('has too long an integer')
    }
  }

  private byte(): number {
    const byte = this.bytes[this.at++]
    if (byte === undefined) throw new Incomplete(`${this.what} is truncated`)
    return byte
  }

  /** Passes over bytes. @param more bytes that must follow */
  private pass(length: number, more = 0): void {
    this.at += length
    if (this.at + more > this.bytes.length) throw new Incomplete(`${this.what} is truncated`)
  }

  private fault(reason: string): ParquetFault {
    return new ParquetFault(`${this.what} ${reason}`)
  }
}

/** The bytes end within a value. */
export class Incomplete extends ParquetFault {}
