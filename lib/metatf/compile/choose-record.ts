import { FIELDS } from '../../event/fields.js'
import { recordSlot, tableOf } from '../choose.js'
import type { Mapping, RecordMapping } from '../mapping.js'
import { columnFor } from './columns.js'
import type { Naming } from './naming.js'

/** How a loop that writes finds out which record an event is written as. */
export interface RecordChoice {
  /** What comes before it. */
  readonly before: readonly string[]
  /** The expression that is switched on. */
  readonly expression: string
  /** The fields whose columns it needs. */
  readonly fields: readonly number[]
  /** The value of the expression for a record. */
  label(record: RecordMapping): number
}

/** Positions in `FIELDS`. */
const API = FIELDS.findIndex(({ name }) => name === 'api')
const OUTCOME = FIELDS.findIndex(({ name }) => name === 'outcome')

/** Records are told apart by the kind of event, if that is enough; else by its outcome and api too. */
export function choiceOf(mapping: Mapping, records: readonly RecordMapping[], { number }: Naming): RecordChoice {
  const table = tableOf(mapping.records)
  const slots = (kind: number) => table.subarray(recordSlot(kind, -1, -1), recordSlot(kind + 1, -1, -1))
  if (records.every(({ kind, position }) => slots(kind).every((chosen) => chosen === position))) {
    return { before: [], expression: number('kind[i]'), fields: [], label: ({ kind }) => kind }
  }
  const code = (field: number) => {
    const { bit, local } = columnFor(field)
    return `(fields & ${bit}) === 0 ? -1 : ${number(`${local}[i]`)}`
  }
  return {
    before: [`const outcome = ${code(OUTCOME)}`, `const api = ${code(API)}`],
    expression: `table[recordSlot(${number('kind[i]')}, outcome, api)]`,
    fields: [API, OUTCOME],
    label: ({ position }) => position,
  }
}

/**
 * The condition under which the event has another outcome or api than the record says, which is then lost; none if the
 * record says none.
 */
export function contradiction({ given, outcome, api }: RecordMapping, { operand }: Naming): string[] {
  return [
    [OUTCOME, outcome],
    [API, api],
  ].flatMap(([field = 0, code]) => {
    if (((given >>> field) & 1) === 0) return []
    const { bit, local } = columnFor(field)
    return [`(fields & ${bit}) !== 0 && ${operand(`${local}[i]`)} !== ${code}`]
  })
}
