import fc from 'fast-check'
import type { TraceEvent } from '../../lib/event/batch.js'
import { APIS, EVERY_FIELD, FIELDS, KINDS, OUTCOMES, type FieldName, type FieldType } from '../../lib/event/fields.js'
import { decodeText } from '../../lib/event/strings.js'

/** 64-bit values, with those at the edges of words and doubles more often than chance would have them. */
export const u64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }),
  fc.bigInt({ min: 0n, max: 4096n }),
  fc.constantFrom(
    0n,
    0xffff_ffffn,
    0x1_0000_0000n,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 63n,
    2n ** 64n - 1n,
    999_999_999n,
    10n ** 19n,
  ),
)

/** Names as programs have them, and bytes that are not UTF-8. */
export const name = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.uint8Array({ maxLength: 8 }).map((bytes) => decodeText(bytes)),
  fc.constantFrom('main', 'operator|', 'std::vector<int>::push_back(int&&)', 'a"b\\c', 'tab\there'),
)

/** Nested values as Meta-TF's records have them. */
const fieldValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    name,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 2 }),
  ),
})).value

const VALUES: Readonly<Record<FieldType, fc.Arbitrary<unknown>>> = {
  u64,
  address: u64,
  u32: fc.nat(0xffff_ffff),
  i32: fc.integer(),
  api: fc.constantFrom(...APIS),
  outcome: fc.constantFrom(...OUTCOMES),
  string: name,
  bytes: fc.uint8Array({ maxLength: 20 }),
  list: fc.array(name, { maxLength: 4 }),
  json: fc.dictionary(name, fieldValue, { maxKeys: 3 }),
}

function eventWith(fields: readonly { readonly name: FieldName; readonly type: FieldType }[]) {
  return fc
    .record(Object.fromEntries(fields.map((field) => [field.name, VALUES[field.type]])), { requiredKeys: [] })
    .chain((values) => fc.constantFrom(...KINDS).map((kind) => ({ kind, ...values }) as TraceEvent))
}

/** Any event at all: any kind with any fields. */
export const anyEvent: fc.Arbitrary<TraceEvent> = eventWith(EVERY_FIELD)

/** Any event without fields of groups. */
export const anyCoreEvent: fc.Arbitrary<TraceEvent> = eventWith(FIELDS)
