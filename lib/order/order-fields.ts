import { FIELDS } from '../event/fields.js'

/** A field that events can be sorted by: any numeric field. */
export type OrderField = Extract<(typeof FIELDS)[number], { type: 'u64' | 'address' | 'u32' | 'i32' }>['name']

const NUMBERS: readonly string[] = ['u64', 'address', 'u32', 'i32']

/** Every field that events can be sorted by. */
export const ORDER_FIELDS = FIELDS.filter(({ type }) => NUMBERS.includes(type)).map(
  ({ name }) => name,
) as readonly OrderField[]
