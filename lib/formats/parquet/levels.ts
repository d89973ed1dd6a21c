import { varint } from './thrift.js'

/**
 * Numbers of `width` bits, at most 24, packed from the lowest bit on, in Parquet's hybrid of runs and packed numbers.
 */
export function hybrid(numbers: Uint32Array | Uint8Array, width: number): Uint8Array {
  const [first] = numbers
  if (numbers.length === 0 || first === undefined) return new Uint8Array(0)
  if (isRun(numbers)) return run(first, numbers.length, width)
  const groups = Math.ceil(numbers.length / 8)
  const head = varint(2 * groups + 1)
  const out = new Uint8Array(head.length + groups * width)
  out.set(head)
  let at = head.length
  let bits = 0
  let count = 0
  for (let i = 0; i < numbers.length; i++) {
    // At most 7 bits remain from earlier numbers, and no number has more than 24.
    bits |= numbers[i] << count
    count += width
    for (; count >= 8; count -= 8, bits >>>= 8) out[at++] = bits
  }
  if (count > 0) out[at] = bits
  return out
}

function isRun(numbers: Uint32Array | Uint8Array): boolean {
  for (let i = 1; i < numbers.length; i++) if (numbers[i] !== numbers[0]) return false
  return true
}

function run(number: number, count: number, width: number): Uint8Array {
  const head = varint(2 * count)
  const out = new Uint8Array(head.length + Math.ceil(width / 8))
  out.set(head)
  for (let at = head.length; at < out.length; at++, number >>>= 8) out[at] = number
  return out
}

/** Levels in a page of the first version: their length precedes them. */
export function levels(numbers: Uint8Array, width: number): Uint8Array {
  const packed = hybrid(numbers, width)
  const out = new Uint8Array(4 + packed.length)
  new DataView(out.buffer).setUint32(0, packed.length, true)
  out.set(packed, 4)
  return out
}
