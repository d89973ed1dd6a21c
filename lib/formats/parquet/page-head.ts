/* Reads the head of a page, a struct in Thrift's compact protocol, as far as checking the page needs it. */

/** The head of a page. */
export interface PageHead {
  /** Where the data of the page begin, and their length. */
  readonly at: number
  readonly length: number
  /** The CRC-32 of the data, as a signed integer; undefined if the writer gave none. */
  readonly crc: number | undefined
}

const [BYTE, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT] = [3, 6, 7, 8, 9, 10, 11, 12] as const
/** Structs of a head are nested less deeply. */
const MAX_DEPTH = 8
/** The numbers of the fields for the length and the checksum. */
const LENGTH = 3
const CRC = 4

/** Reads the head of the page that begins at an offset. @throws Error if it is none, or reaches beyond the bytes */
export function readPageHead(bytes: Uint8Array, from: number): PageHead {
  const input = new CompactInput(bytes, from)
  let length = -1
  let crc: number | undefined
  input.struct((id, type) => {
    if ((id !== LENGTH && id !== CRC) || type < BYTE || type > I64) return input.skip(type, 1)
    const value = input.integer()
    if (id === LENGTH) length = value
    else crc = value | 0
  })
  if (length < 0 || input.at + length > bytes.length) throw new Error('a page has no length, or one beyond its column')
  return { at: input.at, length, crc }
}

class CompactInput {
  constructor(
    private readonly bytes: Uint8Array,
    public at: number,
  ) {}

  /** Reads a struct. @param take reads the value of a field */
  struct(take: (id: number, type: number) => void): void {
    let id = 0
    for (let head = this.byte(); head !== 0; head = this.byte()) {
      id = head >>> 4 === 0 ? this.integer() : id + (head >>> 4)
      take(id, head & 15)
    }
  }

  /** A signed integer of at most 53 bits in zigzag encoding. */
  integer(): number {
    const value = this.varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  /** Passes over a value. */
  skip(type: number, depth: number): void {
    if (depth > MAX_DEPTH) throw new Error('the head of a page is nested too deeply')
    if (type < BYTE) return
    if (type === BYTE) this.pass(1)
    else if (type <= I64) this.varint()
    else if (type === DOUBLE) this.pass(8)
    else if (type === BINARY) this.pass(this.varint())
    else if (type === STRUCT) this.struct((_, of) => this.skip(of, depth + 1))
    else if (type === LIST || type === SET) {
      const head = this.byte()
      const count = head >>> 4 === 15 ? this.varint() : head >>> 4
      this.skipItems(count, [head & 15], depth)
    } else if (type === MAP) {
      const count = this.varint()
      const types = count === 0 ? 0 : this.byte()
      this.skipItems(count, [types >>> 4, types & 15], depth)
    } else throw new Error('the head of a page has an unknown type')
  }

  private skipItems(count: number, types: readonly number[], depth: number): void {
    // A boolean takes a byte in a list. So each item takes one, and the count cannot be larger than what follows.
    this.pass(0, count)
    for (let i = 0; i < count; i++) for (const type of types) this.skip(Math.max(type, BYTE), depth + 1)
  }

  /** A non-negative integer in groups of 7 bits; bits beyond 53 do not matter to lengths, which are checked. */
  private varint(): number {
    let value = 0
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.byte()
      value += (byte & 0x7f) * unit
      if (byte < 0x80) return value
      if (unit > Number.MAX_SAFE_INTEGER) throw new Error('the head of a page has too long an integer')
    }
  }

  private byte(): number {
    const byte = this.bytes[this.at++]
    if (byte === undefined) throw new Error('the head of a page is truncated')
    return byte
  }

  /** Passes over bytes. @param more bytes that must follow */
  private pass(length: number, more = 0): void {
    this.at += length
    if (this.at + more > this.bytes.length) throw new Error('the head of a page is truncated')
  }
}
