import type { TimeUnit, TraceHeader } from '../../event/header.js'
import { decodeText } from '../../event/strings.js'

/** Longer lines are refused. */
export const MAX_LINE = 1 << 20

/** The maximum total size in bytes of the lines before the records. */
export const MAX_HEAD = 65_536

/** The maximum number of values of a record; values with defaults take no room in the line. */
export const MAX_LINE_VALUES = 1 << 19

/** The contents of the header's `layout`. */
interface AsciiLayout {
  /** The lines before the records, unchanged, with the empty line and all line ends. */
  readonly head: string
}

/** A line of the head: `## Key: value`. */
const HEAD_LINE = /^##[ \t]*[^\s:][^\n:]*:[^\n]*\n/
const HEAD = new RegExp(`^(?:${HEAD_LINE.source.slice(1)})*(?:\\r?\\n)?$`)
const DTD_URL = /^##[ \t]*DTDURL:(.*\S.*)$/im
const TIME_UNIT = /^##[ \t]*TimeUnit:[ \t]*(ns|us)[ \t]*\r?$/m

/** Whether this is a line of the head, with its line feed. */
export function isHeadLine(line: string): boolean {
  return HEAD_LINE.test(line)
}

/** The unit of times that a line of a head states. */
export function timeUnitIn(head: string): TimeUnit | undefined {
  return TIME_UNIT.exec(head)?.[1] as TimeUnit | undefined
}

/** The name of the DTD in the lines of a head, or null. */
export function dtdNameIn(head: string): string | null {
  return DTD_URL.exec(head)?.[1]?.trim() ?? null
}

/**
 * The header of a trace that begins with these lines. The line `## TimeUnit: ns`, or `us`, sets the unit of its times.
 * @param fallback the unit if no line sets it
 */
export function headerOf(format: string, head: Uint8Array, fallback?: TimeUnit): TraceHeader {
  const text = decodeText(head)
  const timeUnit = timeUnitIn(text) ?? fallback
  return { format, ...(timeUnit !== undefined && { timeUnit }), layout: { head: text } satisfies AsciiLayout }
}

/**
 * The lines before the records of a trace: the original ones, or `lines` and the unit of times, if records have times
 * and the header has a unit.
 * @param rename maps the name of the DTD in lines that were read, or null
 */
export function headOf(
  format: string,
  header: TraceHeader,
  lines: readonly string[],
  hasTimes: boolean,
  rename = (name: string | null) => name,
): string {
  const { format: from, layout, timeUnit } = header
  const head = layout?.['head']
  if (from === format && typeof head === 'string' && head.length <= MAX_HEAD && HEAD.test(head))
    return withName(head, rename)
  const all = timeUnit === undefined || !hasTimes ? lines : [...lines, `TimeUnit: ${timeUnit}`]
  return `${all.map((line) => `## ${line}\n`).join('')}\n`
}

function withName(head: string, rename: (name: string | null) => string | null): string {
  const before = dtdNameIn(head)
  const name = rename(before)
  if (name === before || name === null) return head
  const line = `## DTDURL: ${name}`
  return before === null ? `${line}\n${head}` : head.replace(DTD_URL, () => line)
}
