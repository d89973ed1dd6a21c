import { wrongType } from './error.js'
import type { FieldName, FieldType } from './fields.js'
import { stringifyFields, type FieldValue } from './json.js'
import { showJson, showValue } from './message-text.js'
import { didYouMean } from './suggest.js'

const MAX_U64 = 0xffff_ffff_ffff_ffffn

/** The form in JSON of a 64-bit value that a double may not represent. */
const DIGITS = /^(0x[0-9a-f]{1,16}|\d{1,20})$/i

/** @throws TypeError when a value is not an event; its fields are checked when they are stored */
export function checkEvent(value: unknown): void {
  if (typeof value !== 'object' || value === null) throw wrongType(`not an event: ${showValue(value)}`)
  if (!('kind' in value)) throw wrongType(`not an event: ${showValue(value)} without a kind`)
}

/**
 * An unsigned 64-bit value of an event: a bigint, an exact whole number, or a string of digits in decimal or, with
 * `0x`, in hexadecimal, as in events read from JSON.
 * @throws TypeError for other values; RangeError when it does not fit
 */
export function u64Value(name: FieldName, value: unknown): bigint {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value))
      throw new RangeError(`${name} must be a whole number below 2^53, or a bigint, not ${value}`)
    value = BigInt(value)
  }
  if (typeof value === 'string' && DIGITS.test(value)) value = BigInt(value)
  if (typeof value !== 'bigint') throw wrongType(`${name} must be a bigint, not ${showValue(value)}`)
  if (value < 0n || value > MAX_U64)
    throw new RangeError(`${name} is not a 64-bit unsigned integer: ${showJson(value)}`)
  return value
}

/** A 32-bit value of an event. @throws TypeError when it is not a number; RangeError when it does not fit */
export function i32Value(name: FieldName, value: unknown, isSigned: boolean): number {
  if (typeof value !== 'number') throw wrongType(`${name} must be a number, not ${showValue(value)}`)
  if ((isSigned ? value | 0 : value >>> 0) !== value) throw new RangeError(`${name} is not a 32-bit integer: ${value}`)
  return value
}

/** The code of an allocation function or outcome. @throws RangeError for an unknown name */
export function codeValue(type: 'api' | 'outcome' | 'kind', names: readonly string[], value: unknown): number {
  const code = names.indexOf(value as string)
  if (code >= 0) return code
  const what = type === 'kind' ? 'unknown kind of event' : `unknown ${type}`
  throw new RangeError(`${what}: ${showValue(value)}${typeof value === 'string' ? didYouMean(value, names) : ''}`)
}

/** @throws TypeError when a value does not have the type for text, bytes or a list of names */
export function checkText(name: FieldName, type: FieldType, value: unknown): void {
  if (type === 'string' && typeof value !== 'string')
    throw wrongType(`${name} must be a string, not ${showValue(value)}`)
  if (type === 'bytes' && !(value instanceof Uint8Array))
    throw wrongType(`${name} must be a Uint8Array, not ${showValue(value)}`)
  // A hole of an array is no string, but `every` passes over it.
  if (type === 'list' && !(Array.isArray(value) && Array.from(value).every((item) => typeof item === 'string')))
    throw wrongType(`${name} must be an array of strings, not ${showValue(value)}`)
}

/**
 * Named values as text.
 * @throws TypeError when they are not an object; RangeError when they are too many or too deep
 */
export function fieldsText(name: FieldName, value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrongType(`${name} must be an object, not ${showValue(value)}`)
  return stringifyFields(value as FieldValue)
}
