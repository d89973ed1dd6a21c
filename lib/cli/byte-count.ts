import { KIB, MIB } from '../bytes/units.js'
import { amountOf, type Arguments } from './command.js'

const UNITS: Readonly<Record<string, number>> = { '': 1, K: KIB, M: MIB, G: KIB * MIB }

/** The bytes of a size as flags give it, such as `4096` or `64M`. NaN for other text, and for more than 15 digits. */
export function byteCount(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,15})([KMG]?)$/i.exec(text) ?? []
  return digits === undefined ? NaN : Number(digits) * UNITS[unit.toUpperCase()]
}

/** The value of a flag as a number of bytes in a range; undefined if it was not given. @throws UsageError */
export function sizeOf(
  args: Pick<Arguments, 'value'>,
  flag: string,
  least = 0,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const range =
    most < Number.MAX_SAFE_INTEGER ? `, at most ${most / MIB}M` : least > 0 ? `, at least ${least / MIB}M` : ''
  return amountOf(args, flag, { read: byteCount, least, most, what: `a number of bytes such as 4096 or 64M${range}` })
}
