import { showText } from '../../event/message-text.js'
import { ParquetFault, ParquetLimit } from './fault.js'
import { Converted, MAX_COLUMNS, Repetition } from './layout.js'
import type { CompactInput } from './thrift-read.js'

/** The storage of the values of a column. */
export interface ColumnShape {
  readonly name: string
  /** The stored type, as in `Physical`; undefined if the column has more than one kind of value in it. */
  readonly physical: number | undefined
  /** Integers without a sign. */
  readonly isUnsigned: boolean
  /** Dates, times and decimals are stored as integers, but are none. */
  readonly isOther: boolean
  /** The largest levels. */
  readonly definition: number
  readonly repetition: number
  /** The least definition level of a row that is not null, and of a list's item. */
  readonly present: number
  readonly item: number
}

interface Element {
  readonly name: string
  readonly physical: number | undefined
  readonly repetition: number
  readonly children: number
  readonly converted: number | undefined
  /** The logical type: its number, and whether an integer has a sign. */
  readonly logical: number | undefined
  readonly isSigned: boolean
}

/** The numbers of logical types. */
const LOGICAL_INTEGER = 10
const LOGICAL_OTHER = [5, 6, 7, 8]
/** Converted types from decimals to times. */
const [FIRST_OTHER, LAST_OTHER] = [5, 10]

/** Reads an element of the schema. */
export function readElement(input: CompactInput, of: number): Element {
  let name = ''
  let physical: number | undefined
  let [repetition, children]: [number, number] = [Repetition.required, 0]
  let converted: number | undefined
  let logical: number | undefined
  let isSigned = true
  input.structOf(of, (id, type) => {
    if (id === 1) physical = input.integer(type)
    else if (id === 3) repetition = input.integer(type)
    else if (id === 4) name = Buffer.from(input.binary(type)).toString()
    else if (id === 5) children = input.integer(type)
    else if (id === 6) converted = input.integer(type)
    else if (id === 10)
      input.structOf(type, (which, inner) => {
        logical = which
        if (which !== LOGICAL_INTEGER) return input.skip(inner)
        input.structOf(inner, (field, value) => {
          if (field === 2) isSigned = input.boolean(value)
          else input.skip(value)
        })
      })
    else input.skip(type)
  })
  return { name, physical, repetition, children, converted, logical, isSigned }
}

/** The columns of a schema, of which the first element is the root. @throws ParquetFault, ParquetLimit */
export function columnsOf(elements: readonly Element[]): ColumnShape[] {
  if (elements.length > MAX_COLUMNS) throw new ParquetLimit(`a schema of more than ${MAX_COLUMNS} columns`)
  const [root] = elements
  if (root === undefined) throw new ParquetFault('the schema is empty')
  const columns: ColumnShape[] = []
  let at = 1
  for (let i = 0; i < root.children; i++) {
    const first = at
    for (let left = 1; left > 0; left--) {
      const element = elements[at++]
      if (element === undefined) throw new ParquetFault('the schema has fewer columns than it says')
      if (element.children < 0) throw new ParquetFault('the schema has a negative number of columns')
      left += element.children
    }
    columns.push(shapeOf(elements.slice(first, at)))
  }
  if (at !== elements.length) throw new ParquetFault('the schema has more columns than it says')
  return columns
}

function shapeOf(path: readonly Element[]): ColumnShape {
  const leaf = path[path.length - 1]
  const { name } = path[0]
  let [definition, repetition, item] = [0, 0, 0]
  let isPlain = leaf.children === 0 && leaf.physical !== undefined
  path.forEach((element, i) => {
    if (element.repetition !== Repetition.required) definition++
    if (element.repetition === Repetition.repeated) {
      repetition++
      item = definition
    }
    if (i < path.length - 1 && element.children !== 1) isPlain = false
  })
  const { physical, converted, logical } = leaf
  return {
    name,
    physical: isPlain ? physical : undefined,
    isUnsigned:
      logical === LOGICAL_INTEGER
        ? !leaf.isSigned
        : converted !== undefined && converted >= Converted.uint8 && converted <= Converted.uint64,
    isOther:
      LOGICAL_OTHER.includes(logical ?? -1) ||
      (converted !== undefined && converted >= FIRST_OTHER && converted <= LAST_OTHER),
    definition,
    repetition,
    present: path[0]?.repetition === Repetition.optional ? 1 : 0,
    item,
  }
}

/** Checks that columns have different names. @throws ParquetFault when there are two */
export function checkNames(columns: readonly ColumnShape[]): void {
  const names = new Set<string>()
  for (const { name } of columns) {
    if (names.has(name)) throw new ParquetFault(`there are two columns ${showText(name)}`)
    names.add(name)
  }
}
