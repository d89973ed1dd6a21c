import { ParquetFault } from './fault.js'

/**
 * Inflates data of Snappy (format_description.txt of google/snappy).
 * @param length of the inflated data
 * @throws ParquetFault when they are damaged or have another length
 */
export function unsnappy(bytes: Uint8Array, length: number): Uint8Array {
  let at = 0
  const byte = (): number => {
    const value = bytes[at++]
    if (value === undefined) throw corrupt()
    return value
  }
  let said = 0
  for (let unit = 1; ; unit *= 0x80) {
    const part = byte()
    said += (part & 0x7f) * unit
    if (part < 0x80) break
    if (unit > 0xffff_ffff) throw corrupt()
  }
  if (said !== length) throw corrupt()
  const out = new Uint8Array(length)
  let end = 0
  while (at < bytes.length) {
    const tag = byte()
    const kind = tag & 3
    if (kind === 0) {
      let count = tag >>> 2
      if (count >= 60) {
        const extra = count - 59
        count = 0
        for (let i = 0; i < extra; i++) count += byte() * 2 ** (8 * i)
      }
      count++
      if (count > bytes.length - at || count > length - end) throw corrupt()
      if (count < 32) for (let i = 0; i < count; i++) out[end + i] = bytes[at + i]
      else out.set(bytes.subarray(at, at + count), end)
      at += count
      end += count
      continue
    }
    let count = (tag >>> 2) + 1
    let distance: number
    if (kind === 1) {
      count = ((tag >>> 2) & 7) + 4
      distance = ((tag & 0xe0) << 3) | byte()
    } else if (kind === 2) distance = byte() | (byte() << 8)
    else distance = byte() + byte() * 0x100 + byte() * 0x1_0000 + byte() * 0x100_0000
    if (distance === 0 || distance > end || count > length - end) throw corrupt()
    // A copy may overlap its own output.
    for (const to = end + count; end < to; end++) out[end] = out[end - distance]
  }
  if (end !== length) throw corrupt()
  return out
}

const corrupt = () => new ParquetFault('the compressed data of a page are corrupt')
