import { crc32, deflateRawSync } from 'node:zlib'

/** Zip archives written by hand, right or wrong as a test wants them. */

/** Four ways to write the sizes behind the data: with a signature or without, of 32 or 64 bits. */
export type DescriptorForm = 'signed' | 'bare' | 'signed64' | 'bare64'

/** What a test can make otherwise than it would be. */
export interface MemberOptions {
  flags?: number
  /** What the header says; the data are deflated all the same. */
  method?: number
  /** Of the deflater. */
  level?: number
  crc?: number
  size?: number
  descriptor?: DescriptorForm
  /** Puts the sizes into a zip64 field. */
  zip64?: boolean
}

const u16 = (n: number) => Buffer.from(Uint16Array.of(n).buffer)
const u32 = (n: number) => Buffer.from(Uint32Array.of(n).buffer)
const u64 = (n: number) => Buffer.from(BigUint64Array.of(BigInt(n)).buffer)
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))

/** A local header. */
export function local(name: string, options: MemberOptions & { compressed?: number; extra?: Uint8Array }): Uint8Array {
  const { flags = 0, method = 8, crc = 0, compressed = 0, size = 0, extra = new Uint8Array(0) } = options
  return join(
    u32(0x0403_4b50),
    u16(20),
    u16(flags),
    u16(method),
    u32(0),
    u32(crc),
    u32(compressed),
    u32(size),
    u16(name.length),
    u16(extra.length),
    Buffer.from(name),
    extra,
  )
}

/** What follows the data when the header could not know it. */
export function descriptor(form: DescriptorForm, crc: number, compressed: number, size: number): Uint8Array {
  const word = form.endsWith('64') ? u64 : u32
  return join(...(form.startsWith('signed') ? [u32(0x0807_4b50)] : []), u32(crc), word(compressed), word(size))
}

/** A deflated file, with its header and, if asked for, descriptor. */
export function member(name: string, content: Uint8Array, options: MemberOptions = {}): Uint8Array {
  const data = deflateRawSync(content, { level: options.level ?? 6 })
  const { crc = crc32(content), size = content.length } = options
  const given = { ...options, crc, compressed: data.length, size }
  if (options.descriptor !== undefined) {
    const header = local(name, { ...options, flags: (options.flags ?? 0) | 8, crc: 0, size: 0 })
    return join(header, data, descriptor(options.descriptor, crc, data.length, size))
  }
  if (options.zip64 !== true) return join(local(name, given), data)
  const other = join(u16(0x5455), u16(3), Buffer.from('abc'))
  const extra = join(other, u16(1), u16(16), u64(size), u64(data.length))
  return join(local(name, { ...given, compressed: 0xffff_ffff, size: 0xffff_ffff, extra }), data)
}

/** One entry of the central directory; what it says is not looked at. */
function central(name: string): Uint8Array {
  return join(
    u32(0x0201_4b50),
    new Uint8Array(24),
    u16(name.length),
    u16(0),
    u16(0),
    new Uint8Array(12),
    Buffer.from(name),
  )
}

/** The end record, without a comment. */
export function end(): Uint8Array {
  return join(u32(0x0605_4b50), new Uint8Array(18))
}

/** A whole archive: members, a central directory with all records that may be in it, and the end. */
export function zip(members: readonly Uint8Array[]): Uint8Array {
  const end64 = join(u32(0x0606_4b50), u64(44), new Uint8Array(44))
  const locator = join(u32(0x0706_4b50), new Uint8Array(16))
  const signature = join(u32(0x0505_4b50), u16(3), Buffer.from('sig'))
  return join(...members, central('dump.txt'), signature, end64, locator, end())
}
