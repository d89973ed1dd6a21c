import { showText } from '../event/message-text.js'
import type { Place } from './model.js'

/** Why a DTD was refused: it cannot be parsed, it makes no sense, or it is larger than memory is given for. */
export type DtdErrorCode = 'ERR_DTD_SYNTAX' | 'ERR_DTD_MEANING' | 'ERR_DTD_LIMIT'

/** A second place that an error is about. */
export interface RelatedPlace extends Place {
  /** What is there, as in `first defined`. */
  readonly note: string
}

/** A fault in a DTD. The message reads `x.dtd:12:3: what is wrong (first defined at x.dtd:5:1)`. */
export class DtdError extends Error implements Place {
  override readonly name = 'DtdError'
  readonly file: string
  readonly line: number
  readonly column: number

  constructor(
    readonly code: DtdErrorCode,
    /** The message without the places. */
    readonly reason: string,
    at: Place,
    /** The other place, where there is one. */
    readonly related: RelatedPlace | null = null,
  ) {
    super(`${showPlace(at)}: ${reason}${related === null ? '' : ` (${related.note} at ${showPlace(related)})`}`)
    this.file = at.file
    this.line = at.line
    this.column = at.column
  }
}

/** A place as messages show it: `x.dtd:12:3`. */
function showPlace({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`
}

/** The text is not of the language. */
export function syntaxError(reason: string, at: Place): DtdError {
  return new DtdError('ERR_DTD_SYNTAX', reason, at)
}

/** The text is of the language but makes no sense; `note` says what is at `other`. */
export function meaningError(reason: string, at: Place, note?: string, other?: Place): DtdError {
  return new DtdError(
    'ERR_DTD_MEANING',
    reason,
    at,
    note === undefined || other === undefined ? null : { ...other, note },
  )
}

/** The text asks for more than a DTD is given. */
export function limitError(reason: string, at: Place): DtdError {
  return new DtdError('ERR_DTD_LIMIT', reason, at)
}

/** A name or another piece of the text as messages quote it; long ones are cut. */
export function quote(text: string): string {
  return `'${showText(text, 40)}'`
}

// What a DTD may ask for at most. Real ones are far below; the limits keep hostile ones from taking memory or time.

/** Characters of text (bytes, if it is given as bytes). */
export const MAX_TEXT = 1 << 20

/** Brackets and record types inside each other. */
export const MAX_DEPTH = 32

/** Record types. */
export const MAX_RECORDS = 4096

/** Leaves of one record type, those of the record types used in it too. */
export const MAX_LEAVES = 10_000

/** Leaves of all record types together. */
export const MAX_ALL_LEAVES = 100_000
