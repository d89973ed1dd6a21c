import { grouped, rounded as digits } from '../../lib/event/message-text.js'
import type { Integer } from '../../lib/transforms/report/result.js'

export { grouped } from '../../lib/event/message-text.js'

const PREFIXES = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB', 'ZiB', 'YiB']

/** As a double, which is close enough for drawing and sorting. */
export function toNumber(value: Integer | undefined): number {
  return Number(value ?? 0)
}

/** A number to about three digits: `0.04`, `12.3`, `12`, `1,234`. */
export function rounded(value: number): string {
  return Number.isInteger(value) ? grouped(value) : digits(value)
}

/** Bytes in a binary unit: `102.1 MiB`. */
export function bytes(value: Integer | bigint): string {
  const exact = Number(value)
  let size = Math.abs(exact)
  if (size < 1024) return `${rounded(exact)} B`
  let prefix = -1
  // From 100 on there are no digits after the point.
  while (prefix < PREFIXES.length - 1 && size >= 1023.5) {
    size /= 1024
    prefix++
  }
  return `${exact < 0 ? '-' : ''}${trimmed(size)} ${PREFIXES[prefix]}`
}

/** Bytes in full: `107,042,242 bytes`. */
export function exactBytes(value: Integer | bigint): string {
  return `${grouped(value)} ${String(value) === '1' ? 'byte' : 'bytes'}`
}

/** A count in short: `12.3 M`. */
export function short(value: Integer | bigint): string {
  const exact = Number(value)
  const size = Math.abs(exact)
  if (size < 10_000) return rounded(exact)
  for (const [limit, unit] of [
    [1e15, 'P'],
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
  ] as const)
    if (size >= limit * 0.9995) return `${trimmed(exact / limit)} ${unit}`
  return `${trimmed(exact / 1000)} k`
}

function trimmed(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, '')
}

/** A part of a whole: `12.3 %`; a dash if the whole is nothing. */
export function share(part: Integer | bigint, whole: Integer | bigint): string {
  return Number(whole) === 0 ? '–' : `${((100 * Number(part)) / Number(whole)).toFixed(1)} %`
}

const UNITS: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 }

/** How many seconds a unit of time has; undefined if it is not known. */
export function secondsOf(unit: string | undefined): number | undefined {
  return unit === undefined ? undefined : UNITS[unit]
}

/**
 * A duration in the trace's unit; without a known unit, in units.
 * @param step a difference that must be visible, in the same unit
 */
export function duration(value: Integer, unit: string | undefined, step = Infinity): string {
  const scale = unit === undefined ? undefined : UNITS[unit]
  if (scale === undefined) return step < Infinity ? grouped(Math.round(Number(value))) : withNoun(short(value), 'unit')
  const seconds = Number(value) * scale
  const size = Math.abs(seconds)
  if (step * scale < size / 100) return precise(seconds, step * scale)
  if (size >= 3599.5) return inTwo(seconds / 60, 'h', 'min')
  if (size >= 120) return inTwo(seconds, 'min', 's')
  if (size >= 1 || size === 0) return `${rounded(seconds)} s`
  if (size >= 1e-3) return `${rounded(seconds * 1e3)} ms`
  return size >= 1e-6 ? `${rounded(seconds * 1e6)} µs` : `${rounded(seconds * 1e9)} ns`
}

/** A number of small units, of which a large one has 60. */
function inTwo(value: number, large: string, small: string): string {
  const size = Math.round(Math.abs(value))
  return `${value < 0 ? '-' : ''}${Math.floor(size / 60)} ${large} ${size % 60} ${small}`
}

/** Seconds in the largest fitting unit, with as many digits as a step needs. */
function precise(seconds: number, step: number): string {
  const [factor, unit] = Math.abs(seconds) >= 1 ? [1, 's'] : Math.abs(seconds) >= 1e-3 ? [1e3, 'ms'] : [1e6, 'µs']
  const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step * factor))))
  return `${(seconds * factor).toFixed(digits)} ${unit}`
}

/** `1 block`, `2 blocks`. */
export function counted(count: Integer, noun: string): string {
  return withNoun(grouped(count), noun)
}

/** The text of a number, and what it counts: `1 event`, `12.3 k events`. */
export function withNoun(number: string, noun: string): string {
  return `${number} ${noun}${number === '1' ? '' : 's'}`
}
