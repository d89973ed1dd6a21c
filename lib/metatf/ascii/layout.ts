import type { TraceHeader } from '../../event/header.js'
import { decodeText } from '../../event/strings.js'

/** Longer lines are refused. */
export const MAX_LINE = 1 << 20

/** All lines before the records together may have so many bytes. */
export const MAX_HEAD = 65_536

/** A record may hold so many values: with defaults, some take no room in the line. */
export const MAX_VALUES = 1 << 19

/** What the header's `layout` holds. */
export interface AsciiLayout {
  /** The lines before the records as they stand there, with the empty one, and all their line ends. */
  readonly head: string
}

/** A line of the head: `## Key: value`. */
const HEAD_LINE = /^##[ \t]*[^\s:][^\n:]*:[^\n]*\n/
const HEAD = new RegExp(`^(?:${HEAD_LINE.source.slice(1)})*(?:\\r?\\n)?$`)
const TIME_UNIT = /^##[ \t]*TimeUnit:[ \t]*(ns|us)[ \t]*\r?$/m

/** Whether this is a line of the head, with its line feed. */
export function isHeadLine(line: string): boolean {
  return HEAD_LINE.test(line)
}

/** The header of a trace that begins with these lines. The line `## TimeUnit: ns`, or `us`, tells the unit of its times. */
export function headerOf(format: string, head: Uint8Array): TraceHeader {
  const text = decodeText(head)
  const timeUnit = TIME_UNIT.exec(text)?.[1] as TraceHeader['timeUnit']
  return { format, ...(timeUnit !== undefined && { timeUnit }), layout: { head: text } satisfies AsciiLayout }
}

/**
 * The lines that a trace of this header begins with: those that it was read with, or else `lines` and, if records have times
 * and the header knows it, their unit.
 */
export function headOf(format: string, header: TraceHeader, lines: readonly string[], hasTimes: boolean): string {
  const { format: from, layout, timeUnit } = header
  const head = layout?.['head']
  if (from === format && typeof head === 'string' && head.length <= MAX_HEAD && HEAD.test(head)) return head
  const all = timeUnit === undefined || !hasTimes ? lines : [...lines, `TimeUnit: ${timeUnit}`]
  return `${all.map((line) => `## ${line}\n`).join('')}\n`
}
