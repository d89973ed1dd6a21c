import { gap, unsigned } from '../../text/numbers.js'
import { doubleAt, HI, LO, wide, WORD, writeDecimal, writeHex } from '../../bytes/u64.js'
import { BATCH_STRING_BYTES } from '../../event/batch.js'
import { MAX_FIELDS_LENGTH } from '../../event/json.js'
import { FREE_ROUNDS, MAX_RECORD, MAX_VALUES } from '../binary/header.js'
import { MAX_LINE, MAX_LINE_VALUES } from '../ascii/head.js'
import { BY_DEFAULT, SILENT, type Layout } from '../layout.js'
import { INCOMPLETE } from '../binary/reader.js'
import { list, object, own } from '../event-writer.js'

/** Adds `"name":value` to an object. */
function member(members: string, added: string): string {
  return members === '' ? added : `${members},${added}`
}

/** A 64-bit number as text. */
function number(lo: number, hi: number): string {
  if (hi === 0) return String(lo)
  return hi < 0x20_0000 ? String(hi * WORD + lo) : String(wide(lo, hi))
}

/** The latest value of leaf p. */
function count({ latest }: Layout, p: number): number {
  return doubleAt(latest, p)
}

/** The names that generated code may use besides `run`. */
export const RUNTIME = {
  BATCH_STRING_BYTES,
  BY_DEFAULT,
  FREE_ROUNDS,
  HI,
  INCOMPLETE,
  LINE_FEED: 0x0a,
  LO,
  MAX_LINE,
  MAX_LINE_VALUES,
  MAX_RECORD,
  /** Braces come around it. */
  MAX_TEXT: MAX_FIELDS_LENGTH - 2,
  MAX_VALUES,
  NO_BYTES: new Uint8Array(0),
  SILENT,
  SPACE: 0x20,
  count,
  gap,
  lineNumber: unsigned,
  list,
  member,
  number,
  object,
  own,
  writeDecimal,
  writeHex,
} as const
