import { describe, expect, it } from 'vitest'
import { showJson, showText, showValue } from '../../lib/event/message-text.js'

const LONG = 'x'.repeat(4_000_000)

describe('showValue', () => {
  it.each<[unknown, string]>([
    ['a "b"\n', String.raw`"a \"b\"\n"`],
    ['\u001b[31m\u202e', String.raw`"\u001b[31m\u202e"`],
    [LONG, `"${'x'.repeat(80)}..."`],
    [`${'x'.repeat(79)}"\n`, `"${'x'.repeat(79)}\\"..."`],
    [12n, '12n'],
    [-(10n ** 80n), 'an integer of more than 80 digits'],
    [1.5, '1.5'],
    [undefined, 'undefined'],
    [null, 'null'],
    [[LONG], 'an array'],
    [() => {}, 'a function'],
    [new Map(), 'an object of type Map'],
    [Object.create(null), 'an object'],
    [{ constructor: LONG }, 'an object of type Object'],
    [Symbol('s'), 'Symbol(s)'],
  ])('%#', (value, text) => {
    expect(showValue(value)).toBe(text)
  })
})

it('values of JSON are shown as JSON has them', () => {
  expect([12n, -(10n ** 80n), { a: 1 }, [1], 'a', null, true].map(showJson)).toEqual([
    '12',
    'an integer of more than 80 digits',
    'an object',
    'an array',
    '"a"',
    'null',
    'true',
  ])
})

it('text is cut and escaped', () => {
  expect(showText(`\u0007${LONG}`)).toBe(`\\u0007${'x'.repeat(79)}...`)
  expect(showText('abcdef', 3)).toBe('abc...')
})
