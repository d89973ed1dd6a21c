import type { EventBatch, U64FieldName } from '../../event/batch.js'
import { APIS, FieldBit, KINDS, type ApiName, type KindName } from '../../event/fields.js'
import { showValue } from '../../event/message-text.js'
import type { NameTest } from './match.js'
import { byCodes, byRanges } from './row-filter.js'
import { rangeWords, type Range } from './ranges.js'

/**
 * A predicate that narrows a selection of a batch's rows: it keeps those of `rows[0..n)` that match, in place and in
 * order, and returns their number. `before` is the number of events in the stream before this batch. An event without
 * the field that a criterion examines does not match.
 */
export type Predicate = (batch: EventBatch, rows: Int32Array, n: number, before: number) => number

const { cpu: HAS_CPU, process: HAS_PROCESS } = FieldBit

/**
 * The field has one of some values. A negative value is taken modulo 2^64, as decoders treat the signed ids of some
 * formats.
 * @throws RangeError when a value is not a 64-bit integer
 */
export function hasValue(field: U64FieldName, values: readonly (bigint | number)[]): Predicate {
  return byRanges(
    field,
    values.map(toU64).map((value) => ({ from: value, to: value })),
  )
}

/** In place of a process: events without one, such as the events of the first process of a recording. */
export const NO_PROCESS = 'none'

/** The event belongs to one of some processes, or to none. @throws RangeError as `hasValue` */
export function isOfProcess(values: readonly (bigint | number | typeof NO_PROCESS)[]): Predicate {
  const numbers = values.filter((value) => value !== NO_PROCESS)
  const isNumbered = hasValue('process', numbers)
  if (numbers.length === values.length) return isNumbered
  return (batch, rows, n, before) => {
    if ((batch.columns & HAS_PROCESS) === 0) return n
    const numbered = rows.slice(0, n)
    const most = isNumbered(batch, numbered, n, before)
    const { mask } = batch
    let kept = 0
    let next = 0
    for (let j = 0; j < n; j++) {
      const i = rows[j]
      rows[kept] = i
      const isOne = next < most && numbered[next] === i
      if (isOne) next++
      if (isOne || (mask[i] & HAS_PROCESS) === 0) kept++
    }
    return kept
  }
}

function toU64(value: bigint | number): bigint {
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value))
    throw new RangeError(`not an exact integer: ${showValue(value)}`)
  const big = BigInt(value)
  if (big !== BigInt.asUintN(64, big) && big !== BigInt.asIntN(64, big)) {
    throw new RangeError(`not an integer of 64 bits: ${value}`)
  }
  return BigInt.asUintN(64, big)
}

/**
 * The event's number in the stream, from 1, is in one of some ranges.
 * @throws RangeError as `rangeWords`, and for a range of 0 alone
 */
export function isNumbered(ranges: readonly Range[]): Predicate {
  const bounds = Float64Array.from(rangeWords(ranges), Number)
  if (bounds[1] === 0) throw new RangeError('no event has the number 0: the first one has 1')
  return (_batch, rows, n, before) => {
    let kept = 0
    let b = 0
    for (let j = 0; j < n; j++) {
      const i = rows[j]
      const number = before + i + 1
      // Numbers and ranges ascend.
      while (b < bounds.length && number > bounds[b + 1]) b += 2
      rows[kept] = i
      if (b < bounds.length && number >= bounds[b]) kept++
    }
    return kept
  }
}

/** The event has one of some kinds. @throws RangeError on an unknown kind */
export function isKind(kinds: readonly KindName[]): Predicate {
  return byCodes('kind', codeSet(KINDS, kinds, 'kind of event'))
}

/** The event was made by one of some allocation functions. @throws RangeError on an unknown function */
export function isApi(apis: readonly ApiName[]): Predicate {
  return byCodes('api', codeSet(APIS, apis, 'allocation function'))
}

function codeSet(all: readonly string[], wanted: readonly string[], what: string): Uint8Array {
  const set = new Uint8Array(256)
  for (const name of wanted) {
    const code = all.indexOf(name)
    if (code < 0) throw new RangeError(`no such ${what}: ${showValue(name)} (there are ${all.join(', ')})`)
    set[code] = 1
  }
  return set
}

/** The event happened on one of some CPUs. @throws RangeError when a number is not a 32-bit integer */
export function onCpu(cpus: readonly (bigint | number)[]): Predicate {
  const wanted = Int32Array.from(cpus, (cpu) => {
    if ((typeof cpu !== 'bigint' && typeof cpu !== 'number') || (Number(cpu) | 0) !== Number(cpu))
      throw new RangeError(`not an integer of 32 bits: ${showValue(cpu)}`)
    return Number(cpu)
  })
  return (batch, rows, n) => {
    if ((batch.columns & HAS_CPU) === 0) return 0
    const { mask, cpu } = batch
    let kept = 0
    for (let j = 0; j < n; j++) {
      const i = rows[j]
      rows[kept] = i
      if ((mask[i] & HAS_CPU) !== 0 && wanted.includes(cpu[i])) kept++
    }
    return kept
  }
}

export type NamedField = 'function' | 'file' | 'module' | 'type' | 'stack'

/** The field, or some frame of the stack, matches. */
export function isNamed(field: NamedField, test: NameTest): Predicate {
  const has = FieldBit[field]
  const isList = field === 'stack'
  return (batch, rows, n) => {
    if ((batch.columns & has) === 0) return 0
    test.begin(batch.strings)
    const { mask } = batch
    const column = batch[field]
    let kept = 0
    for (let j = 0; j < n; j++) {
      const i = rows[j]
      rows[kept] = i
      if ((mask[i] & has) !== 0 && (isList ? test.list(column[i]) : test.name(column[i]))) kept++
    }
    return kept
  }
}
