import type { EventBatch } from './batch.js'
import { FieldBit, Kind } from './fields.js'
import { formatsOf } from './header.js'

/** The code of the `other` event with which a recording ends that its program outlived: `E`. */
export const EARLY_END = 0x45
/** The format that has such events. Codes are the own numbers of each format. */
const FORMAT = 'recorder'

/** A note about a recording that ended while its program ran on. */
export const EARLY_END_NOTE =
  'the recording ended while the program ran on, so blocks that were live then may have been freed'

/** The first event from `from` on that says that the recording ended while its program ran on; -1 for none. */
export function earlyEnd({ header, kind, mask, code }: EventBatch, from: number, to: number): number {
  if (!formatsOf(header).includes(FORMAT)) return -1
  for (let at = kind.indexOf(Kind.other, from); at >= 0 && at < to; at = kind.indexOf(Kind.other, at + 1))
    if ((mask[at] & FieldBit.code) !== 0 && code[at] === EARLY_END) return at
  return -1
}
