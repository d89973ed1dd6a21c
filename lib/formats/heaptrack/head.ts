import { decodeText, encodeText } from '../../event/strings.js'
import * as Layout from './layout.js'

export interface Head {
  readonly layout: Layout.HeaptrackLayout
  /** The number of lines, and the position after them. */
  readonly lines: number
  readonly end: number
}

/** The reasons why there is no head. */
type NoHead = 'none' | 'newer' | 'more'

/** The lines that may follow the first one, in this order. */
const ORDER = 'xXI'
/** The number of bytes that are examined to find out whether a trace is raw. */
const LOOK_AHEAD = 16_384

/** The lines that may come next in a file without the line with the memory. */
const RECORD = /^(?:[-+tacRi] [0-9a-f]+(?: [0-9a-f]+)*|[sm] .*)$/

const LINE_FEED = 0x0a
const SPACE = 0x20
const LETTER_I = 0x49
const LETTER_X = 0x58

/**
 * Reads the first lines of a trace: `v`, and then `x`, `X` and `I` if present, in this order. A later line of a kind
 * that is present is the beginning of another trace; one of another kind is a comment.
 * @param start the start of the available whole lines, and `end` their end
 * @param isAll whether no more lines will come
 * @returns the head, or the reason why there is none: this is not the beginning of a trace, its version is newer, or
 *   more input is needed
 */
export function readHead(bytes: Uint8Array, start: number, end: number, isAll: boolean): Head | NoHead {
  const first = lineAt(bytes, start, end)
  const said = /^v ([0-9a-f]{1,8})(?: ([0-9a-f]{1,8}))?$/.exec(decodeText(bytes.subarray(first.start, first.end)))
  if (said === null) return 'none'
  const version = said[2] === undefined ? undefined : parseInt(said[2], 16)
  if (version !== undefined && version > Layout.NEWEST) return 'newer'
  let layout: Layout.HeaptrackLayout = {
    raw: false,
    heaptrack: Layout.versionText(parseInt(said[1], 16)),
    ...(version !== undefined && { version }),
  }
  let at = first.end + 1
  let before = -1
  while (at < end) {
    const place = ORDER.indexOf(String.fromCharCode(bytes[at]))
    if (place <= before || bytes[at + 1] !== SPACE) break
    const line = bytes[at] === LETTER_X ? commandAt(bytes, at, end, isAll) : lineAt(bytes, at, end)
    if (line === undefined) return 'more'
    // Lines that are too long are refused as those of records are.
    if (line.end - line.start > Layout.MAX_LINE) break
    const part = partOf(bytes, line, version ?? 1)
    if (part === undefined) break
    layout = { ...layout, ...part }
    before = place
    at = line.end + 1
  }
  const lines = linesIn(bytes.subarray(start, at))
  // The next of these lines may not be available yet.
  if (at >= end && !isAll) return 'more'
  if (layout.raw) return { layout, lines, end: at }
  const raw = isRaw(bytes, at, end)
  if (raw === undefined && !isAll && end - at < LOOK_AHEAD) return 'more'
  return { layout: { ...layout, raw: raw ?? false }, lines, end: at }
}

/** The first lines of a trace with this layout. */
export function headOf(layout: Layout.HeaptrackLayout): Uint8Array {
  const { heaptrack, version, executable, command, pageSize, pages } = layout
  const by = (Layout.versionNumber(heaptrack) ?? 0).toString(16)
  const lines = [version === undefined ? `v ${by}` : `v ${by} ${version.toString(16)}`]
  if (executable !== undefined && layout.raw) lines.push(`x ${Layout.stringText(executable, version ?? 1)}`)
  if (command !== undefined) lines.push(`X ${command}`)
  if (pageSize !== undefined && pages !== undefined) lines.push(`I ${pageSize.toString(16)} ${pages.toString(16)}`)
  return encodeText(`${lines.join('\n')}\n`)
}

/** The meaning of a line after the first. */
function partOf(bytes: Uint8Array, line: Layout.Span, version: number): Partial<Layout.HeaptrackLayout> | undefined {
  const text = { start: line.start + 2, end: line.end }
  switch (bytes[line.start]) {
    case 0x78: {
      const path = Layout.stringEnd(bytes, text.start, text.end, version, true)
      return path.start < 0 ? undefined : { raw: true, executable: Layout.textOf(bytes, path) }
    }
    case LETTER_X:
      return { command: Layout.textOf(bytes, text) }
    default:
      return memoryOf(bytes, line)
  }
}

/**
 * The lines of a command. heaptrack writes arguments unchanged, and an argument, such as the one of `sh -c`, may have
 * line feeds. The command ends before the line with the memory; without that line, or if a record follows, the command
 * is one line.
 * @returns undefined if that line may come later
 */
function commandAt(bytes: Uint8Array, start: number, end: number, isAll: boolean): Layout.Span | undefined {
  const first = lineAt(bytes, start, end)
  let last = first
  while (last.end - start < LOOK_AHEAD) {
    if (last.end + 1 >= end) return isAll ? first : undefined
    const line = lineAt(bytes, last.end + 1, end)
    if (bytes[line.start] === LETTER_I && bytes[line.start + 1] === SPACE && memoryOf(bytes, line) !== undefined)
      return last.end - start > Layout.MAX_LINE ? first : { start, end: last.end }
    if (last === first && RECORD.test(Layout.textOf(bytes, line))) return first
    last = line
  }
  return first
}

function linesIn(bytes: Uint8Array): number {
  let lines = 0
  for (const byte of bytes) if (byte === LINE_FEED) lines++
  return lines
}

/** The meaning of the line with the memory: `I`. */
function memoryOf(bytes: Uint8Array, line: Layout.Span): Partial<Layout.HeaptrackLayout> | undefined {
  const start = line.start + 2
  const size = Layout.hexAt(bytes, start, line.end)
  const pages = Layout.hexAt(bytes, size.next + 1, line.end)
  const isWhole = bytes[size.next] === SPACE && pages.next === line.end && pages.next > size.next + 1
  const again = `${size.value.toString(16)} ${pages.value.toString(16)}`
  const isSame = isWhole && Layout.textOf(bytes, { start, end: line.end }) === again
  return isSame ? { pageSize: size.value, pages: pages.value } : undefined
}

/** Whether these are lines of a raw file. The first line that shows it decides. */
function isRaw(bytes: Uint8Array, start: number, end: number): boolean | undefined {
  for (let at = start; at < end && at < start + LOOK_AHEAD; at = lineAt(bytes, at, end).end + 1) {
    if (bytes[at + 1] !== SPACE) continue
    const letter = String.fromCharCode(bytes[at])
    if (letter === 'm') return true
    if ('sia'.includes(letter)) return false
    if (letter === '+') return bytes.subarray(at + 2, lineAt(bytes, at, end).end).includes(SPACE)
  }
  return undefined
}

function lineAt(bytes: Uint8Array, start: number, end: number): Layout.Span {
  const feed = bytes.indexOf(LINE_FEED, start)
  return { start, end: feed < 0 || feed >= end ? end : feed }
}
