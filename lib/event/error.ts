/**
 * The reason why a trace could not be read, written or processed:
 * - `ERR_TRACE_TRUNCATED`: the input ends before it is whole
 * - `ERR_TRACE_MALFORMED`: the input breaks the rules of its format
 * - `ERR_TRACE_LIMIT`: the input is larger than memory is given for
 * - `ERR_TRACE_UNENCODABLE`: the target format cannot represent an event or field, in strict mode
 * - `ERR_TRACE_UNKNOWN_FORMAT`: the first bytes fit no format
 * - `ERR_TRACE_NO_ORDER`: traces cannot be merged, because their events have neither times nor sequence numbers
 * - `ERR_TRACE_TOO_MANY_FILES`: more files are to be merged than the system lets a process open
 * - `ERR_TRACE_EXPRESSION`: the user's code does not compile, failed, or returned something that is not an event
 */
export type TraceErrorCode =
  | 'ERR_TRACE_TRUNCATED'
  | 'ERR_TRACE_MALFORMED'
  | 'ERR_TRACE_LIMIT'
  | 'ERR_TRACE_UNENCODABLE'
  | 'ERR_TRACE_UNKNOWN_FORMAT'
  | 'ERR_TRACE_NO_ORDER'
  | 'ERR_TRACE_TOO_MANY_FILES'
  | 'ERR_TRACE_EXPRESSION'

import { showValue } from './message-text.js'

/** The position of a reader in its input. */
export interface TracePosition {
  /** The format's name. */
  format: string
  /** Byte offset from the beginning of the stream (after decompression), from 0. */
  offset?: number
  /** Line, from 1, in text formats. */
  line?: number
  /** Column in bytes, from 1, in text formats. */
  column?: number
  /** The number, from 1, of the event that could not be read or written; the events before it are whole. */
  event?: number
}

/** A fault in a trace, with its place, if any. Everything before that place was delivered. */
export class TraceError extends Error implements Partial<TracePosition> {
  override readonly name = 'TraceError'
  declare readonly format?: string
  declare readonly offset?: number
  declare readonly line?: number
  declare readonly column?: number
  declare readonly event?: number
  /** The name of the format that the bytes look like, if it is not the requested one. */
  declare readonly looksLike?: string
  /** The file that was read, if known; `stdin` for standard input. */
  declare readonly file?: string

  /** Also true of errors from another copy of the package, such as the one that a module of formats uses. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return (
      value instanceof Error &&
      value.name === 'TraceError' &&
      String(Reflect.get(value, 'code')).startsWith('ERR_TRACE_')
    )
  }

  constructor(
    readonly code: TraceErrorCode,
    reason: string,
    at?: TracePosition,
    options: ErrorOptions & { looksLike?: string } = {},
  ) {
    // Without a known format, there is no position either.
    super(at === undefined || code === 'ERR_TRACE_UNKNOWN_FORMAT' ? reason : `${describe(at)}: ${reason}`, options)
    if (at === undefined) return
    this.format = at.format
    if (at.offset !== undefined) this.offset = at.offset
    if (at.line !== undefined) this.line = at.line
    if (at.column !== undefined) this.column = at.column
    if (at.event !== undefined) this.event = at.event
    if (options.looksLike !== undefined) this.looksLike = options.looksLike
  }
}

/** An own format failed: what its reader, writer or `sniff` threw is the cause. */
export class FormatFault extends Error {
  override readonly name = 'FormatFault'
  /** As of `TraceError`. */
  declare readonly file?: string

  /** As of `TraceError`: a module of formats has a copy of the package of its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'FormatFault'
  }

  constructor(what: 'reader' | 'writer' | 'sniff', thrown: unknown, at: TracePosition) {
    const cause = asError(thrown)
    super(`${describe(at)}: the ${what} of the format failed: ${cause.message}`, { cause })
  }
}

/** The codes of errors in the input. */
const READING: readonly TraceErrorCode[] = [
  'ERR_TRACE_TRUNCATED',
  'ERR_TRACE_MALFORMED',
  'ERR_TRACE_LIMIT',
  'ERR_TRACE_UNKNOWN_FORMAT',
]

/**
 * Adds the file to an error about its contents, or of an own format that reads them, once. Other errors are unchanged.
 * @param path the file, or `-` for standard input
 */
export function nameInput(error: unknown, path: string): void {
  if (!(error instanceof TraceError || error instanceof FormatFault) || error.file !== undefined) return
  if (error instanceof TraceError && !READING.includes(error.code)) return
  const file = inputName(path)
  Object.assign(error, { file, message: `${file}: ${error.message}` })
}

/** The name of an input in messages. */
export function inputName(path: string): string {
  return path === '-' ? 'stdin' : path
}

/** A position as errors and warnings begin with it: `mtrc: byte 104, event 8`. */
export function describe(at: TracePosition): string {
  const places = [at.format]
  if (at.line !== undefined) places.push(`line ${at.line}`)
  if (at.column !== undefined) places.push(`column ${at.column}`)
  if (at.offset !== undefined) places.push(`byte ${at.offset}`)
  if (at.event !== undefined) places.push(`event ${at.event}`)
  return places.length > 1 ? `${places[0]}: ${places.slice(1).join(', ')}` : places[0]
}

/** The input is incomplete. */
export function truncated(reason: string, at: TracePosition): TraceError {
  return new TraceError('ERR_TRACE_TRUNCATED', `truncated: ${reason}`, at)
}

/** The input breaks the format's rules. */
export function malformed(reason: string, at: TracePosition): TraceError {
  return new TraceError('ERR_TRACE_MALFORMED', `malformed: ${reason}`, at)
}

/** The input exceeds a limit: an endless name, a line without end. */
export function limit(reason: string, at: TracePosition): TraceError {
  return new TraceError('ERR_TRACE_LIMIT', `over the limit: ${reason}`, at)
}

/** An event or field that the target format cannot represent, in strict mode. */
export function unencodable(reason: string, at: TracePosition): TraceError {
  return new TraceError('ERR_TRACE_UNENCODABLE', reason, at)
}

/**
 * A user's code did not compile, threw, or returned something that is not an event.
 * @param event the number of the event, from 1, that the code was called with; absent if the code does not compile
 */
export function expressionError(cause: unknown, event?: number): TraceError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const at = { format: 'expression', ...(event !== undefined && { event }) }
  return new TraceError('ERR_TRACE_EXPRESSION', reason, at, { cause })
}

/** An argument or chunk of the wrong type, with the code that Node's own functions give such an error. */
export function wrongType(reason: string): TypeError & { code: 'ERR_INVALID_ARG_TYPE' } {
  return Object.assign(new TypeError(reason), { code: 'ERR_INVALID_ARG_TYPE' } as const)
}

/** The thrown value as an Error: a user's code may throw anything, even `undefined`. */
export function asError(thrown: unknown): Error {
  // Not by instanceof: errors of other realms are errors, too.
  const isError = typeof thrown === 'object' && thrown !== null && 'message' in thrown
  return isError ? (thrown as Error) : new Error(`${showValue(thrown)} was thrown`, { cause: thrown })
}
