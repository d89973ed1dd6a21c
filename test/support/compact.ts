import { CHECKSUM_BYTES, HEAD_BYTES, SECTION_HEAD } from '../../lib/formats/compact/layout.js'

/** A section of a compact trace. */
export interface Section {
  type: number
  /** Where it begins and where the next one does. */
  from: number
  to: number
}

/** The sections of a file. */
export function sectionsOf(bytes: Uint8Array): Section[] {
  const sections: Section[] = []
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  for (let from = HEAD_BYTES; from < bytes.length;) {
    const to = from + SECTION_HEAD + view.getUint32(from + 1, true) + CHECKSUM_BYTES
    sections.push({ type: bytes[from], from, to })
    from = to
  }
  return sections
}

/** The bytes with the checksum of a section as it must be for them. */
export function sealed(bytes: Uint8Array, { from, to }: Section): Uint8Array {
  let crc = ~0
  for (let i = from; i < to - CHECKSUM_BYTES; i++) {
    crc ^= bytes[i]
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f6_3b78 : 0)
  }
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(to - CHECKSUM_BYTES, ~crc >>> 0, true)
  return bytes
}
