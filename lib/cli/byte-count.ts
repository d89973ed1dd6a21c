import { KIB, MIB } from '../bytes/units.js'

const UNITS: Readonly<Record<string, number>> = { '': 1, K: KIB, M: MIB, G: KIB * MIB }

/** The bytes of a size as flags give it, such as `4096` or `64M`. NaN for other text, and for more than 15 digits. */
export function byteCount(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,15})([KMG]?)$/i.exec(text) ?? []
  return digits === undefined ? NaN : Number(digits) * UNITS[unit.toUpperCase()]
}
