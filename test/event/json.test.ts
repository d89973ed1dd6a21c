import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { parseJson, stringifyFields, type FieldValue } from '../../lib/event/json.js'

const value = fc.letrec<{ value: FieldValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.bigInt(),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value')),
    fc.dictionary(fc.string(), tie('value')),
  ),
})).value

test('nested values come back', () => {
  fc.assert(
    fc.property(value, (given) => {
      expect(parseJson(stringifyFields(given))).toEqual(given)
    }),
  )
})

test('any JSON is read as JSON.parse does, except for integers', () => {
  const exact = (_: string, found: unknown): unknown =>
    typeof found === 'number' && Number.isSafeInteger(found) ? BigInt(found) : found
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 1, '\t'), (text, space) => {
      const spaced = JSON.stringify(JSON.parse(text), null, space)
      // JSON.stringify writes -0 as 0, and large doubles as integers.
      fc.pre(!/\d{16}|e\+/i.test(spaced))
      expect(parseJson(spaced)).toEqual(JSON.parse(spaced, exact))
    }),
  )
})

describe('parseJson', () => {
  it('keeps long integers, and does not take names for more than names', () => {
    expect(
      parseJson(
        '{"a":18446744073709551615,"b":"18446744073709551615","c":-9223372036854775808,"d":1.5,"e":[true,null]}',
      ),
    ).toEqual({
      a: 2n ** 64n - 1n,
      b: '18446744073709551615',
      c: -(2n ** 63n),
      d: 1.5,
      e: [true, null],
    })
    const { __proto__: own } = parseJson('{"__proto__":1}') as Record<string, unknown>
    expect(own).toBe(1n)
  })

  it.each([
    '',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '[1 2]',
    '[,]',
    '01',
    '1.',
    '-',
    '{"a":1}x',
    '"\\x"',
    '"a',
    '{a:1}',
    'nul',
    ']',
    `${'['.repeat(40)}`,
    '{"a":1 "b":2}',
  ])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(/JSON/)
  })
})

describe('stringifyFields', () => {
  test('refuses arrays with holes', () => {
    // eslint-disable-next-line no-sparse-arrays
    expect(() => stringifyFields({ a: [1n, , 3n] as FieldValue[] })).toThrow(/not undefined/)
  })

  const nested = (depth: number): FieldValue => {
    let inner: FieldValue = 1n
    for (let i = 0; i < depth; i++) inner = i % 2 === 0 ? [inner] : { a: inner }
    return { a: inner }
  }

  it('writes no deeper than a line can be read', () => {
    const deepest = nested(126)
    const text = stringifyFields(deepest)
    expect(parseJson(`{"kind":"other","fields":${text}}`)).toEqual({ kind: 'other', fields: deepest })
    expect(() => stringifyFields(nested(127))).toThrow(
      new RangeError('the values of an event are nested more than 128 deep'),
    )
    expect(() => parseJson(`{"fields":${'['.repeat(128)}1${']'.repeat(128)}}`)).toThrow(
      'not JSON: nested more than 128 deep',
    )
  })

  it('writes no more than a line has room for', () => {
    const most = 'x'.repeat(3_000_000 - 8)
    expect(parseJson(stringifyFields({ a: most }))).toEqual({ a: most })
    expect(() => stringifyFields({ a: `${most}x` })).toThrow(
      new RangeError('the values of an event take more than 3000000 characters'),
    )
  })
})

describe('integers', () => {
  const digits = (n: number) => '9'.repeat(n)

  it('have at most 10,000 digits, in text and as values', () => {
    for (const sign of ['', '-']) {
      const most = parseJson(`{"a":${sign}${digits(10_000)}}`) as { a: bigint }
      expect(most.a).toBe(BigInt(sign + digits(10_000)))
      expect(stringifyFields(most)).toBe(`{"a":${sign}${digits(10_000)}}`)
      expect(() => parseJson(`{"a":${sign}${digits(10_001)}}`)).toThrow(/^an integer has more than 10000 digits$/)
    }
    expect(() => stringifyFields({ a: 10n ** 10_000n })).toThrow(/more than 10000 digits/)
    expect(() => stringifyFields({ a: -(10n ** 10_000n) })).toThrow(/more than 10000 digits/)
  })

  it('may be numbers where a double holds them exactly', () => {
    const given = { a: 1, b: [-0, 2 ** 53 - 1], c: undefined } as unknown as FieldValue
    expect(stringifyFields(given)).toBe('{"a":1,"b":[0,9007199254740991]}')
    expect(() => stringifyFields({ a: 2 ** 53 } as unknown as FieldValue)).toThrow(/not 9007199254740992$/)
  })
})
