import { newChunk } from '../../bytes/chunks.js'
import { transpose } from './bits.js'

/** A column that some events have: its field, and its bitmap unless all events have it. */
export interface Presence {
  readonly f: number
  readonly bitmap: Uint8Array | undefined
}

/** The masks of events, of the bitmaps of columns. They are in a chunk of their own. */
export function masksOf(columns: readonly Presence[], rows: number): Uint32Array<ArrayBuffer> {
  const padded = (rows + 31) & ~31
  const masks = new Uint32Array(newChunk(4 * padded).buffer, 0, padded)
  if (columns.every(({ bitmap }) => bitmap === undefined)) {
    return masks.fill(columns.reduce((set, { f }) => set | (1 << f), 0))
  }
  masks.fill(0)
  for (const { f, bitmap } of columns) {
    for (let at = 0, byte = 0; at < padded; at += 32, byte += 4)
      masks[at + f] = bitmap === undefined ? 0xffff_ffff : wordAt(bitmap, byte)
  }
  for (let at = 0; at < padded; at += 32) transpose(masks, at)
  return masks
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}
