import { showText } from '../event/message-text.js'
import type { Place } from './model.js'

/** The reason why a DTD was refused: it cannot be parsed, it breaks a rule, or it exceeds a limit. */
export type DtdErrorCode = 'ERR_DTD_SYNTAX' | 'ERR_DTD_MEANING' | 'ERR_DTD_LIMIT'

/** A second place that an error refers to. */
export interface RelatedPlace extends Place {
  /** A description of the place, such as `first defined`. */
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

/** The error for text that breaks the grammar of the language. */
export function syntaxError(reason: string, at: Place): DtdError {
  return new DtdError('ERR_DTD_SYNTAX', reason, at)
}

/** The error for text that breaks a rule; `note` describes `other`. */
export function meaningError(reason: string, at: Place, note?: string, other?: Place): DtdError {
  return new DtdError(
    'ERR_DTD_MEANING',
    reason,
    at,
    note === undefined || other === undefined ? null : { ...other, note },
  )
}

/** The error for text that exceeds a limit. */
export function limitError(reason: string, at: Place): DtdError {
  return new DtdError('ERR_DTD_LIMIT', reason, at)
}

/** A piece of the text as quoted in messages; long ones are truncated. */
export function quote(text: string): string {
  return `'${showText(text, 40)}'`
}

// The limits of DTDs. Real ones are far below; the limits keep hostile ones from taking memory or time.

/** Characters of text (bytes, if it is given as bytes). */
export const MAX_TEXT = 1 << 20

/** Brackets and record types inside each other. */
export const MAX_DEPTH = 32

/** Record types. */
export const MAX_RECORDS = 4096

/** Leaves of one record type, including the record types used in it. */
export const MAX_LEAVES = 10_000

/** Leaves of all record types together. */
export const MAX_ALL_LEAVES = 100_000
