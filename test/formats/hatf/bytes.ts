/** Small makers of HATF bytes, for tests written by hand. */

/** Bytes from hex digits; spaces are for the reader. */
export function hex(digits: string): Uint8Array {
  return new Uint8Array(Buffer.from(digits.replaceAll(/\s/g, ''), 'hex'))
}

/** Bytes joined. */
export function join(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}

/** A comment record. */
export function comment(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  return join(Uint8Array.of(10, 0, bytes.length >> 8, bytes.length & 255), bytes)
}

/** An alloc record as the default layout has it, with v1 attributes if there are any. */
export function alloc(size: number, address: number, attributes?: string): Uint8Array {
  return join(Uint8Array.of(0), u32(size), u32(address), ...(attributes === undefined ? [] : [v1(attributes)]))
}

/** The metadata that gives attributes a length in one byte. */
export const V1 = hex('0b020500 0b010509')

function v1(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  return join(Uint8Array.of(bytes.length), bytes)
}

function u32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value)
}

/** The encoder's options for values as they are, with bytes that are easy to write by hand. */
export const PLAIN = { preset: 'naive', threadEncoding: 'plain', heapEncoding: 'plain' } as const
