/** Packs kmemtrace records by hand, field by field, so that tests do not rest on the encoder. */

/** What a record says; a record with `bytesReq` is as long as that of an allocation. */
export interface Fields {
  event: number
  type: number
  /** Where it is not the true size. */
  eventSize?: number
  seq?: number
  cpu?: number
  time?: bigint
  callSite?: bigint
  ptr?: bigint
  bytesReq?: bigint
  bytesAlloc?: bigint
  gfpFlags?: number
  node?: number
  /** Bytes behind the mandatory part. */
  tail?: Uint8Array
}

/** How to pack. */
export interface Packing {
  little: boolean
  /** Without one: the layout of ABI version 1; else the later one, with words of this size. */
  word?: 4 | 8
}

export const LITTLE: Packing = { little: true }
export const BIG: Packing = { little: false }

/** One record after the other. */
export function pack({ little, word }: Packing, ...records: Fields[]): Uint8Array {
  return join(
    ...records.map((fields) => {
      const view = new DataView(new ArrayBuffer(128))
      let at = 8
      const native = (value: bigint) => {
        if (word === 4) view.setUint32(at, Number(value), little)
        else view.setBigUint64(at, value, little)
        at += word ?? 8
      }
      view.setUint8(0, fields.event)
      view.setUint8(1, fields.type)
      if (word === undefined) {
        view.setInt32(4, fields.seq ?? 0, little)
      } else {
        view.setUint32(4, fields.cpu ?? 0, little)
        view.setBigUint64(8, fields.time ?? 0n, little)
        at = 16
      }
      native(fields.callSite ?? 0n)
      native(fields.ptr ?? 0n)
      if (fields.bytesReq !== undefined) {
        native(fields.bytesReq)
        native(fields.bytesAlloc ?? 0n)
        view.setUint32(at, fields.gfpFlags ?? 0, little)
        view.setInt32(at + 4, fields.node ?? 0, little)
        at += 8
      }
      const tail = fields.tail ?? new Uint8Array(0)
      view.setUint16(2, fields.eventSize ?? at + tail.length, little)
      return join(new Uint8Array(view.buffer, 0, at), tail)
    }),
  )
}

/** A feature: its size, its id, its data. */
export function feature({ little }: Packing, id: number, data: string): Uint8Array {
  const size = 3 + data.length
  return join(
    little ? Uint8Array.of(size & 255, size >> 8, id) : Uint8Array.of(size >> 8, size & 255, id),
    Buffer.from(data),
  )
}

/** Bytes joined. */
export function join(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}

/** Addresses as a 64-bit kernel has them. */
export const SITE = 0xffff_ffff_810a_3c4en
export const PTR = 0xffff_8800_3d7e_1400n

/** An allocation by kmalloc, and its free. */
export const ALLOC: Fields = {
  event: 0,
  type: 0,
  seq: 1,
  callSite: SITE,
  ptr: PTR,
  bytesReq: 100n,
  bytesAlloc: 128n,
  gfpFlags: 0xd0,
  node: -1,
}
export const FREE: Fields = { event: 1, type: 0, seq: 2, callSite: SITE + 64n, ptr: PTR }
