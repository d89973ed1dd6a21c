import type { TraceEvent } from '../../../lib/event/batch.js'
import { decodeText } from '../../../lib/event/strings.js'

/**
 * A function's name: operators with bars where no name can follow, else anything but bars. Text has a character for
 * each byte.
 */
const FRAME = /(?:(?<![\w$\x80-\xff])operator(?:\|\||\|=|\|)(?=$|[|(<>), \t])|[^|])*/y

/** The frames of a crawl. */
export function splitCrawl(crawl: string): string[] {
  const frames: string[] = []
  for (FRAME.lastIndex = 0; ; FRAME.lastIndex++) {
    frames.push(FRAME.exec(crawl)?.[0] as string)
    if (FRAME.lastIndex >= crawl.length) return frames
  }
}

const LINE = /^[ \t]*(\d+)-(\d+)([ \t]+)(\d+|old)([ \t]+)0[xX]([\da-fA-F]+)([ \t]+)(\d+|del)(?:\r?$|([ \t]+)([^]*)$)/

/** What a line says, a character for each byte: an event, nothing, or undefined if it fits no rule. */
export function readLine(line: string): TraceEvent | null | undefined {
  if (/^[ \t]*\r?$/.test(line)) return null
  const match = LINE.exec(line)
  if (match === null) return undefined
  const [
    ,
    team = '',
    thread = '',
    gap1 = '',
    time = '',
    gap2 = '',
    hex = '',
    gap3 = '',
    size = '',
    gap4 = '',
    tail = '',
  ] = match
  if (time === 'old' && size === 'del') return undefined
  const event: TraceEvent = {
    kind: time === 'old' ? 'existing' : size === 'del' ? 'free' : 'alloc',
    address: BigInt(`0x${hex}`),
  }
  if (event.kind !== 'existing') event.api = event.kind === 'free' ? 'delete' : 'new'
  if (BigInt(team) !== 0n) event.process = BigInt(team)
  if (BigInt(thread) !== 0n) event.thread = BigInt(thread)
  if (time !== 'old') event.time = BigInt(time)
  if (size !== 'del') event.size = BigInt(size)
  const numbers = [BigInt(team), BigInt(thread), event.address ?? 0n, event.time ?? 0n, event.size ?? 0n]
  if (numbers.some((number) => number >= 2n ** 64n)) return undefined

  const wide = [gap1, gap2, gap3, gap4].some((gap) => gap !== ' ' && gap !== '')
  const column =
    /^(?:novtbl|notype)(?=[ \t]|$)/.exec(tail) ?? (wide ? /^[^]*?(?=\t| [ \t]| $|$)/ : /^[^ \t]*/).exec(tail)
  const type = (column?.[0] ?? '').replace(/[ \r]+$/, '')
  if (type !== '' && type !== 'novtbl') event.type = text(type)
  const crawl = tail.slice(column?.[0].length).replace(/^[ \t]+|[ \t\r]+$/g, '')
  if (crawl !== '') event.stack = splitCrawl(crawl).map(text)
  return event
}

function text(bytes: string): string {
  return decodeText(Buffer.from(bytes, 'latin1'))
}
