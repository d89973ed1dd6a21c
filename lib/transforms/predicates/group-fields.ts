import type { U64Column } from '../../event/batch.js'
import { GROUP_FIELDS, type GroupFieldName, type GroupFieldType } from '../../event/fields.js'
import { positionOf, type GroupColumn } from '../../event/groups.js'
import { showValue } from '../../event/message-text.js'
import { ofOption } from '../../event/options.js'
import type { StringTable } from '../../event/strings.js'
import type { Criterion } from './lost-events.js'
import { NameTest, type NamePattern } from './match.js'
import { rangeWords, type Range } from './ranges.js'

type GroupField = (typeof GROUP_FIELDS)[number]

/** The values that a criterion on a field can have: ranges of 64-bit integers, 32-bit integers, or names. */
type Wanted<Type extends string> = Type extends 'u64' | 'address'
  ? Range
  : Type extends 'string'
    ? NamePattern
    : bigint | number

/** The criteria on fields of groups: one value, or several of which any suffices. */
export type GroupCriteria = {
  readonly [Field in GroupField as Field['name']]?: Wanted<Field['type']> | readonly Wanted<Field['type']>[]
}

/** The names of these criteria, which take any value. */
export const GROUP_OPTIONS = Object.fromEntries(GROUP_FIELDS.map(({ name }) => [name, true])) as Readonly<
  Record<GroupFieldName, true>
>

/** The criteria that options have. @throws RangeError for a value that no event can have */
export function groupCriteria(options: GroupCriteria): Criterion[] {
  return GROUP_FIELDS.flatMap(({ name, type }) => {
    const given: unknown = options[name]
    return given === undefined ? [] : [criterion(name, type, Array.isArray(given) ? given : [given])]
  })
}

/** Whether a value of a column is wanted; `begin` comes first for each batch. */
interface Test {
  begin(strings: StringTable): void
  has(column: GroupColumn, i: number): boolean
}

function criterion(name: GroupFieldName, type: GroupField['type'], wanted: readonly unknown[]): Criterion {
  const test = ofOption('filter', name, () => TESTS[type](wanted))
  const g = positionOf(name)
  return {
    name,
    test: ({ groups, strings }, rows, n) => {
      if (groups === undefined || ((groups.columns >>> g) & 1) === 0) return 0
      const { mask } = groups
      const column = groups.at(g)
      test.begin(strings)
      let kept = 0
      for (let j = 0; j < n; j++) {
        const i = rows[j]
        rows[kept] = i
        if ((mask[i] >>> g) & 1 && test.has(column, i)) kept++
      }
      return kept
    },
  }
}

function ranges(wanted: readonly unknown[]): Test {
  const bounds = rangeWords(wanted as readonly Range[])
  return {
    begin: () => {},
    has: (column, i) => {
      const value = (column as U64Column).values[i]
      for (let b = 0; b < bounds.length; b += 2) if (value >= bounds[b] && value <= bounds[b + 1]) return true
      return false
    },
  }
}

function integers(wanted: readonly unknown[]): Test {
  const values = new Set(
    wanted.map((value) => {
      const number = typeof value === 'bigint' ? Number(value) : value
      if (typeof number !== 'number' || ((number | 0) !== number && number >>> 0 !== number))
        throw new RangeError(`not an integer of 32 bits: ${showValue(value)}`)
      return number
    }),
  )
  return { begin: () => {}, has: (column, i) => values.has((column as Int32Array)[i]) }
}

function names(wanted: readonly unknown[]): Test {
  const test = new NameTest(wanted as readonly NamePattern[])
  return { begin: (strings) => test.begin(strings), has: (column, i) => test.name((column as Uint32Array)[i]) }
}

const TESTS: Readonly<Record<GroupFieldType, (wanted: readonly unknown[]) => Test>> = {
  u64: ranges,
  address: ranges,
  u32: integers,
  i32: integers,
  string: names,
}
