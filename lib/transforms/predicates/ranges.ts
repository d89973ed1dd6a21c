import { inspect } from 'node:util'
import { wrongType } from '../../event/error.js'
import { showValue } from '../../event/message-text.js'

/** An inclusive range of unsigned integers. A missing end is open. */
export interface Range {
  readonly from?: bigint
  readonly to?: bigint
}

const MAX = 0xffff_ffff_ffff_ffffn
const FACTORS: Readonly<Record<string, bigint>> = { '': 1n, K: 1n << 10n, M: 1n << 20n, G: 1n << 30n }

/**
 * Parses a range: `A..B`, `A..`, `..B`, `..` (any value) or `A` (this value only). Numbers are decimal, with an
 * optional suffix K, M or G (powers of 1024, in either case), or hexadecimal with `0x`.
 * @throws TypeError on what is no text; RangeError on any other text, on numbers beyond 64 bits, and when the range is
 *   empty
 */
export function parseRange(text: string): Range {
  if (typeof text !== 'string') throw wrongType(`a range is parsed from a text, not from ${showValue(text)}`)
  const dots = text.indexOf('..')
  const from = dots < 0 ? parseNumber(text, text) : parseEnd(text.slice(0, dots), text)
  const to = dots < 0 ? from : parseEnd(text.slice(dots + 2), text)
  const range: Range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
  checkRange(range)
  return range
}

function parseEnd(end: string, text: string): bigint | undefined {
  return end.trim() === '' ? undefined : parseNumber(end, text)
}

function parseNumber(number: string, text: string): bigint {
  const match = /^\s*(?:(0x[0-9a-f]+)|([0-9]+)([KMG]?))\s*$/i.exec(number)
  if (match === null) {
    throw new RangeError(`not a range: '${text}' (write A..B, A.., ..B or A, with numbers such as 4096, 4K or 0x1000)`)
  }
  const [, hex, decimal, suffix] = match
  return hex !== undefined ? BigInt(hex) : BigInt(decimal) * FACTORS[suffix.toUpperCase()]
}

function checkRange(range: Range): void {
  // Untyped programs may pass anything, and what has neither end would be the range of all values.
  const isObject = typeof range === 'object' && range !== null
  const { from = 0n, to = MAX, ...others } = isObject ? range : {}
  if (!isObject || typeof from !== 'bigint' || typeof to !== 'bigint' || Object.keys(others).length > 0) {
    throw new RangeError(`not a range of bigints, such as parseRange('4K..') or { from: 4096n }: ${inspect(range)}`)
  }
  if (from < 0n || from > MAX || to < 0n || to > MAX)
    throw new RangeError(`not 64-bit unsigned integers: ${from}..${to}`)
  if (from > to) throw new RangeError(`an empty range: ${from}..${to}`)
}

/**
 * The bounds of ranges for hot loops: the first and last values of disjoint ascending ranges that contain the same
 * values as the given ones.
 * @throws RangeError when an end is not an unsigned 64-bit integer or a range is empty
 */
export function rangeWords(ranges: readonly Range[]): BigUint64Array {
  const bounds: bigint[] = []
  ranges.forEach(checkRange)
  const all = ranges.map(({ from = 0n, to = MAX }) => ({ from, to }))
  for (const { from, to } of all.toSorted((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0))) {
    const last = bounds.at(-1)
    if (last === undefined || from > last + 1n) bounds.push(from, to)
    else if (to > last) bounds[bounds.length - 1] = to
  }
  return BigUint64Array.from(bounds)
}
