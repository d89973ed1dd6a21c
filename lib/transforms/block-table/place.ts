/** Records of the places of allocations: origins.ts keeps them. */
import { wide } from '../../bytes/u64.js'
import { parseFrame } from '../../event/frame.js'
import { decodeText, encodeText, type StringTable } from '../../event/strings.js'
import { RowBit } from './columns.js'

/**
 * The layout of a record: the fields that the place has, as bits of a row's mask; ids of names and of the stack, the
 * line, and the words of the call site. Its key is everything before the text of the site. Then come the frame, and
 * what rows have: the bits of their mask, and function, file, line and module, which come from the frame if a site has
 * only a stack.
 */
export const Place = {
  mask: 0,
  stack: 1,
  function: 2,
  file: 3,
  line: 4,
  module: 5,
  lo: 6,
  hi: 7,
  type: 8,
  site: 9,
  frame: 10,
  rowMask: 11,
  rowFunction: 12,
  rowFile: 13,
  rowLine: 14,
  rowModule: 15,
} as const
export const RECORD = 16
export const KEY = Place.site

/** The text of a site is truncated after this many bytes: a stack may repeat long names. */
const MAX_SITE_BYTES = 65_536

const CALLED_BY = encodeText(' < ')
const AT = encodeText(' at ')

const PLACE_BITS = RowBit.function | RowBit.file | RowBit.line | RowBit.module
/** A place with both has a frame. */
const STACKED = RowBit.stack | RowBit.site

/** The site of a key in one line: its stack, or function, file and line, or module and call site. */
export function siteText(key: Uint32Array, strings: StringTable): Uint8Array {
  const bits = key[Place.mask]
  const name = (place: number) => strings.view(key[place])
  const parts: Uint8Array[] = []
  let length = 0
  const add = (part: Uint8Array) => {
    length += part.length
    parts.push(part)
  }
  if ((bits & RowBit.stack) !== 0) {
    for (const frame of strings.list(key[Place.stack])) {
      if (length > MAX_SITE_BYTES) break
      if (length > 0) add(CALLED_BY)
      add(strings.view(frame))
    }
  } else if ((bits & (RowBit.function | RowBit.file | RowBit.line)) === 0) {
    if ((bits & RowBit.module) !== 0) add(name(Place.module))
    if ((bits & RowBit.callSite) !== 0) {
      const address = wide(key[Place.lo], key[Place.hi]).toString(16)
      add(encodeText(length > 0 ? ` [0x${address}]` : `0x${address}`))
    }
  } else {
    if ((bits & RowBit.function) !== 0) add(name(Place.function))
    if ((bits & RowBit.file) !== 0) {
      if (length > 0) add(AT)
      add(name(Place.file))
    }
    const line = key[Place.line]
    if (line > 0) add(encodeText((bits & RowBit.file) !== 0 ? `:${line}` : `${length > 0 ? ' at ' : ''}line ${line}`))
  }
  return new Uint8Array(Buffer.concat(parts)).subarray(0, MAX_SITE_BYTES)
}

/** Sets the function, file, line and module of rows. @param at the position of the record */
export function setShown(records: Uint32Array, at: number, strings: StringTable): void {
  const bits = records[at + Place.mask]
  records[at + Place.rowMask] = bits
  records[at + Place.rowFunction] = records[at + Place.function]
  records[at + Place.rowFile] = records[at + Place.file]
  records[at + Place.rowLine] = records[at + Place.line]
  records[at + Place.rowModule] = records[at + Place.module]
  if ((bits & PLACE_BITS) !== 0 || (bits & STACKED) !== STACKED) return
  const shown = parseFrame(decodeText(strings.view(records[at + Place.frame])))
  const set = (place: number, bit: number, value: number) => {
    records[at + place] = value
    records[at + Place.rowMask] |= bit
  }
  if (shown.function !== undefined && shown.function !== '')
    set(Place.rowFunction, RowBit.function, strings.internText(shown.function))
  if (shown.file !== undefined) set(Place.rowFile, RowBit.file, strings.internText(shown.file))
  if (shown.line !== undefined && shown.line !== 0) set(Place.rowLine, RowBit.line, shown.line)
  if (shown.module !== undefined) set(Place.rowModule, RowBit.module, strings.internText(shown.module))
}
