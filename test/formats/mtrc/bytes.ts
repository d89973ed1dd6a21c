/** Bytes from hex digits (spaces do not matter). */
export function hex(digits: string): Uint8Array {
  return new Uint8Array(Buffer.from(digits.replaceAll(/\s/g, ''), 'hex'))
}

/** Bytes one behind the other; text stands for its characters. */
export function join(...parts: (Uint8Array | string)[]): Uint8Array {
  return new Uint8Array(
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))),
  )
}

/** The header of 64-bit Unix, version 1.5.1. */
export const LP64 = hex('4d545243 0100000000000000 0529000000000000')

/** The header of a 32-bit big-endian machine, version 1.3.0: no sources. */
export const OLD = hex('4d545243 00000001 0000283c')

/** Ends a trace. */
export const END = join('MTRC')

/** A little trace with every type of record, names defined and used again, and numbers of one to ten bytes. */
export const SMALL = join(
  LP64,
  'I',
  hex('80c0e08cb1f11f 808001'),
  'H',
  hex('8080ca8302 8020'),
  'A',
  hex('01 90a8ca8302 18 00'),
  hex('81'),
  'make\0',
  hex('81'),
  'a.c\0',
  hex('09'),
  'A',
  hex('02 ffffffffffffffffff01 808080808001 8080b8a0b1f11f'),
  hex('01 82'),
  'b.c\0',
  hex('ffffffff0f'),
  'R',
  hex('01 b0a8ca8302 8001 00 00 02 00'),
  'F',
  hex('01 00 82'),
  'main\0',
  hex('01 d704'),
  'F',
  hex('05 00 00 00 00'),
  END,
)
