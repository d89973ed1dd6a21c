import { widened } from '../../bytes/widened.js'

/*
 * Flatbuffers, as far as the messages of Arrow need them: tables, strings, vectors of tables and vectors of structs. A
 * message is described by nodes and then written from front to back, each child after its parent. So all offsets are
 * positive, except the offsets of vtables, each of which precedes its table.
 */

/** The value of a field of a table: a number, or another node of the same message. */
export type FlatNode = FlatNumber | FlatTable | FlatText | FlatTables | FlatStructs

/** A number; once it is written, `at` is its position, so that it can be changed. */
export interface FlatNumber {
  readonly is: 'number'
  readonly size: 1 | 2 | 4 | 8
  readonly value: number
  at: number
}

/** A table: its fields by their numbers. */
export interface FlatTable {
  readonly is: 'table'
  readonly fields: ReadonlyMap<number, FlatNode>
}

interface FlatText {
  readonly is: 'text'
  readonly text: string
}

interface FlatTables {
  readonly is: 'tables'
  readonly tables: readonly FlatTable[]
}

/** A vector of structs to be filled in later; once it is written, `at` is the position of the first struct. */
export interface FlatStructs {
  readonly is: 'structs'
  readonly count: number
  readonly size: number
  at: number
}

export const i8 = (value: number): FlatNumber => ({ is: 'number', size: 1, value, at: 0 })
export const i16 = (value: number): FlatNumber => ({ is: 'number', size: 2, value, at: 0 })
export const i32 = (value: number): FlatNumber => ({ is: 'number', size: 4, value, at: 0 })
export const i64 = (value: number): FlatNumber => ({ is: 'number', size: 8, value, at: 0 })
export const text = (value: string): FlatText => ({ is: 'text', text: value })
export const tables = (list: readonly FlatTable[]): FlatTables => ({ is: 'tables', tables: list })

/** A table of the fields with these numbers, without undefined fields. */
export function table(fields: Readonly<Record<number, FlatNode | undefined>>): FlatTable {
  const given = new Map<number, FlatNode>()
  for (const [slot, node] of Object.entries(fields)) if (node !== undefined) given.set(Number(slot), node)
  return { is: 'table', fields: given }
}

/** Zeroed room for `count` structs of `size` bytes, a multiple of 8. */
export function structs(count: number, size: number): FlatStructs {
  return { is: 'structs', count, size, at: 0 }
}

/** The bytes of a flatbuffer whose root is this table; a multiple of 8. */
export function flatbuffer(root: FlatTable): Uint8Array<ArrayBuffer> {
  const writer = new Writer()
  writer.reference(0, root, 4)
  return writer.finish()
}

class Writer {
  private bytes = new Uint8Array(1024)
  private view = new DataView(this.bytes.buffer)
  private end = 0

  /** Writes a node that is not a number, and its offset at `from`. @param end where the node may begin, if given */
  reference(from: number, node: Exclude<FlatNode, FlatNumber>, end = this.end): void {
    this.end = end
    const at = this.write(node)
    this.view.setUint32(from, at - from, true)
  }

  finish(): Uint8Array<ArrayBuffer> {
    this.reserve(this.align(this.end, 8))
    return this.bytes.slice(0, this.end)
  }

  private write(node: Exclude<FlatNode, FlatNumber>): number {
    switch (node.is) {
      case 'table':
        return this.table(node)
      case 'text':
        return this.text(Buffer.from(node.text))
      case 'tables': {
        const at = this.vector(node.tables.length, 4, 4)
        node.tables.forEach((one, i) => this.reference(at + 4 + 4 * i, one))
        return at
      }
      case 'structs': {
        const at = this.vector(node.count, node.size, 8)
        node.at = at + 4
        return at
      }
    }
  }

  private table({ fields }: FlatTable): number {
    const slots = Math.max(-1, ...fields.keys()) + 1
    const vtable = this.align(this.end, 2)
    // The first word of a table is the distance to its vtable. Numbers of 8 bytes are aligned to these.
    const at = this.align(vtable + 4 + 2 * slots, 8)
    const places = new Map<number, number>()
    let length = 4
    for (const [slot, node] of [...fields].toSorted(([, one], [, other]) => sizeOf(other) - sizeOf(one))) {
      length = this.align(length, sizeOf(node))
      places.set(slot, length)
      length += sizeOf(node)
    }
    this.reserve(at + length)
    const { view } = this
    view.setUint16(vtable, 4 + 2 * slots, true)
    view.setUint16(vtable + 2, length, true)
    for (const [slot, place] of places) view.setUint16(vtable + 4 + 2 * slot, place, true)
    view.setInt32(at, at - vtable, true)
    for (const [slot, node] of fields) this.field(at + (places.get(slot) as number), node)
    return at
  }

  private field(at: number, node: FlatNode): void {
    if (node.is !== 'number') return this.reference(at, node)
    const { view } = this
    node.at = at
    if (node.size === 1) view.setInt8(at, node.value)
    else if (node.size === 2) view.setInt16(at, node.value, true)
    else if (node.size === 4) view.setInt32(at, node.value, true)
    else view.setBigInt64(at, BigInt(node.value), true)
  }

  /** Room for a vector: its length, and elements aligned to `align` bytes. @returns the position of the length */
  private vector(count: number, size: number, align: number): number {
    const at = this.align(this.end + 4, align) - 4
    this.reserve(at + 4 + count * size)
    this.view.setUint32(at, count, true)
    return at
  }

  private text(bytes: Uint8Array): number {
    const at = this.vector(bytes.length, 1, 4)
    this.bytes.set(bytes, at + 4)
    // A zero follows the text; fresh memory is zero.
    this.reserve(this.end + 1)
    return at
  }

  private align(at: number, to: number): number {
    return Math.ceil(at / to) * to
  }

  private reserve(end: number): void {
    this.end = end
    if (end <= this.bytes.length) return
    this.bytes = widened(this.bytes, Math.max(2 * this.bytes.length, end))
    this.view = new DataView(this.bytes.buffer)
  }
}

function sizeOf(node: FlatNode): number {
  return node.is === 'number' ? node.size : 4
}
