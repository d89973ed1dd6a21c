/**
 * A table in a flatbuffer. Its fields are read and checked on demand.
 * @throws RangeError when an offset points outside the bytes
 */
export class FlatReader {
  private readonly vtable: number
  private readonly vtableLength: number

  private constructor(
    private readonly view: DataView,
    private readonly at: number,
  ) {
    this.vtable = at - view.getInt32(at, true)
    this.vtableLength = view.getUint16(this.vtable, true)
  }

  /** The root table of a flatbuffer. */
  static root(bytes: Uint8Array): FlatReader {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    return new FlatReader(view, view.getUint32(0, true))
  }

  i8(slot: number): number {
    const at = this.place(slot)
    return at === 0 ? 0 : this.view.getInt8(at)
  }

  i16(slot: number): number {
    const at = this.place(slot)
    return at === 0 ? 0 : this.view.getInt16(at, true)
  }

  i32(slot: number): number {
    const at = this.place(slot)
    return at === 0 ? 0 : this.view.getInt32(at, true)
  }

  /** @throws RangeError also when a double does not hold the number */
  i64(slot: number): number {
    const at = this.place(slot)
    return at === 0 ? 0 : this.i64At(at)
  }

  table(slot: number): FlatReader | undefined {
    const at = this.place(slot)
    return at === 0 ? undefined : new FlatReader(this.view, this.follow(at))
  }

  /** @throws RangeError when the table does not have it */
  neededTable(slot: number): FlatReader {
    const found = this.table(slot)
    if (found === undefined) throw new RangeError('a part of the message is missing')
    return found
  }

  text(slot: number): string | undefined {
    const at = this.place(slot)
    if (at === 0) return undefined
    const [from, length] = this.vectorAt(this.follow(at), 1)
    return Buffer.from(this.view.buffer as ArrayBuffer, this.view.byteOffset + from, length).toString()
  }

  tables(slot: number): FlatReader[] {
    const [from, count] = this.vector(slot, 4)
    return Array.from({ length: count }, (_, i) => new FlatReader(this.view, this.follow(from + 4 * i)))
  }

  /** A vector of 8-byte integers, or of structs of them: all integers in a row. */
  integers(slot: number, perStruct: number): Float64Array {
    const [from, count] = this.vector(slot, 8 * perStruct)
    const integers = new Float64Array(count * perStruct)
    for (let i = 0; i < integers.length; i++) integers[i] = this.i64At(from + 8 * i)
    return integers
  }

  private i64At(at: number): number {
    const value = this.view.getInt32(at + 4, true) * 0x1_0000_0000 + this.view.getUint32(at, true)
    if (!Number.isSafeInteger(value)) throw new RangeError('a number is out of range')
    return value
  }

  /** The position of a field, or 0 if the table does not have it. */
  private place(slot: number): number {
    const entry = 4 + 2 * slot
    if (entry + 2 > this.vtableLength) return 0
    const offset = this.view.getUint16(this.vtable + entry, true)
    return offset === 0 ? 0 : this.at + offset
  }

  private follow(at: number): number {
    return at + this.view.getUint32(at, true)
  }

  private vector(slot: number, size: number): [from: number, count: number] {
    const at = this.place(slot)
    return at === 0 ? [0, 0] : this.vectorAt(this.follow(at), size)
  }

  private vectorAt(at: number, size: number): [from: number, count: number] {
    const count = this.view.getUint32(at, true)
    if (at + 4 + count * size > this.view.byteLength) throw new RangeError('a list is longer than the message')
    return [at + 4, count]
  }
}
