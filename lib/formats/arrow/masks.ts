import { newChunk } from '../../bytes/chunks.js'

/** A column that some events have: its field, and its bitmap unless all events have it. */
export interface Presence {
  readonly f: number
  readonly bitmap: Uint8Array | undefined
}

/** The masks of events, made from the bitmaps of columns, in a separate chunk. */
export function masksOf(columns: readonly Presence[], rows: number): Uint32Array<ArrayBuffer> {
  const masks = new Uint32Array(newChunk(4 * rows).buffer, 0, rows)
  let all = 0
  // Most columns have the bitmap of another one.
  const groups: { readonly bitmap: Uint8Array; set: number }[] = []
  for (const { f, bitmap } of columns) {
    if (bitmap === undefined) {
      all |= 1 << f
      continue
    }
    const used = bitmap.subarray(0, Math.ceil(rows / 8))
    const group = groups.find(({ bitmap: other }) => Buffer.compare(other, used) === 0)
    if (group === undefined) groups.push({ bitmap: used, set: 1 << f })
    else group.set |= 1 << f
  }
  if (groups.length === 0) masks.fill(all)
  groups.forEach(({ bitmap, set }, g) => addFields(masks, bitmap, set, g === 0 ? all : 0, g === 0 ? 0 : -1))
  return masks
}

/**
 * Adds fields to the masks of the events in a bitmap. It is a separate function, because V8 optimizes it sooner.
 * @param all fields that all events get
 * @param kept the bits of the masks that remain
 */
function addFields(masks: Uint32Array, bitmap: Uint8Array, set: number, all: number, kept: number): void {
  for (let at = 0, b = 0; at < masks.length; b++) {
    const bits = bitmap[b]
    const end = Math.min(at + 8, masks.length)
    for (let j = 0; at < end; j++, at++) masks[at] = (masks[at] & kept) | all | (set & -((bits >>> j) & 1))
  }
}
