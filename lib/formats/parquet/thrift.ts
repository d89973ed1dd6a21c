/*
 * Thrift's compact protocol, as far as the metadata of Parquet needs it for writing: structs, lists, integers and
 * strings. A struct is described by nodes and then written.
 */

/** A value in a struct or list. */
export type ThriftNode =
  | { readonly is: 'i32' | 'i64'; readonly value: number }
  | { readonly is: 'bytes'; readonly bytes: Uint8Array }
  | { readonly is: 'list'; readonly items: readonly ThriftNode[] }
  | { readonly is: 'struct'; readonly fields: readonly (readonly [id: number, node: ThriftNode])[] }
  /** Structs that were written before, one after the other. */
  | { readonly is: 'written'; readonly count: number; readonly parts: readonly Uint8Array[] }

const TYPE = { i32: 5, i64: 6, bytes: 8, list: 9, written: 9, struct: 12 } as const
/** A list with at least this number of items has its length after its head. */
const LONG_LIST = 15

export const i32 = (value: number): ThriftNode => ({ is: 'i32', value })
export const i64 = (value: number): ThriftNode => ({ is: 'i64', value })
export const text = (value: string): ThriftNode => ({ is: 'bytes', bytes: Buffer.from(value) })
export const binary = (bytes: Uint8Array): ThriftNode => ({ is: 'bytes', bytes })
export const list = (items: readonly ThriftNode[]): ThriftNode => ({ is: 'list', items })
export const written = (parts: readonly Uint8Array[], count = parts.length): ThriftNode => ({
  is: 'written',
  count,
  parts,
})

/** A struct of the fields with these numbers, without undefined fields. */
export function struct(fields: Readonly<Record<number, ThriftNode | undefined>>): ThriftNode {
  const given = Object.entries(fields).flatMap(([id, node]) =>
    node === undefined ? [] : [[Number(id), node] as const],
  )
  return { is: 'struct', fields: given }
}

/** The bytes of a struct. */
export function thrift(node: ThriftNode): Uint8Array {
  const parts: Uint8Array[] = []
  write(node, parts)
  return Buffer.concat(parts)
}

function write(node: ThriftNode, parts: Uint8Array[]): void {
  switch (node.is) {
    case 'i32':
    case 'i64':
      // Zigzag encoding.
      parts.push(varint(node.value < 0 ? -2 * node.value - 1 : 2 * node.value))
      break
    case 'bytes':
      parts.push(varint(node.bytes.length), node.bytes)
      break
    case 'list':
      parts.push(listHead(node.items.length, TYPE[node.items[0]?.is ?? 'i32']))
      for (const item of node.items) write(item, parts)
      break
    case 'written':
      parts.push(listHead(node.count, TYPE.struct), ...node.parts)
      break
    case 'struct': {
      let last = 0
      for (const [id, field] of node.fields) {
        parts.push(Uint8Array.of(((id - last) << 4) | TYPE[field.is]))
        write(field, parts)
        last = id
      }
      parts.push(Uint8Array.of(0))
    }
  }
}

function listHead(count: number, type: number): Uint8Array {
  if (count < LONG_LIST) return Uint8Array.of((count << 4) | type)
  return Buffer.concat([Uint8Array.of((LONG_LIST << 4) | type), varint(count)])
}

/** A non-negative number in groups of 7 bits, the lowest first. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = []
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) | 0x80)
  bytes.push(value)
  return Uint8Array.from(bytes)
}
