import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { budgetsFor, budgetsOf } from '../../../lib/transforms/check/budgets.js'
import { BUDGET_FIGURES } from '../../../lib/transforms/option-values.js'
import { conforms, type Schema } from '../../support/schema.js'

const schema = JSON.parse(readFileSync(new URL('../../../docs/check.schema.json', import.meta.url), 'utf8')) as Schema

function limit(figure: string, rule: 'max' | 'grow', text: string) {
  const [budget] = budgetsFor(figure, rule, text, false)
  return [budget?.limit.amount, budget?.limit.percent]
}

describe('limits', () => {
  test('of bytes have powers of 1,024, of others powers of 1,000', () => {
    expect(limit('peak', 'max', '200M')).toEqual([200n << 20n, 0n])
    expect(limit('leaked', 'max', '3k')).toEqual([3072n, 0n])
    expect(limit('blocks', 'max', '1M')).toEqual([1_000_000n, 0n])
    expect(limit('allocations', 'max', '0')).toEqual([0n, 0n])
  })

  test('may be shares, and growth a sum', () => {
    expect(limit('temporary', 'max', '20%')).toEqual([0n, 20_000_000n])
    expect(limit('peak', 'grow', '2.5%')).toEqual([0n, 2_500_000n])
    expect(limit('peak', 'grow', '5%+64K')).toEqual([65_536n, 5_000_000n])
    expect(limit('peak', 'grow', '64K')).toEqual([65_536n, 0n])
  })

  test('none leaked is no block leaked, either', () => {
    for (const rule of ['max', 'grow'] as const)
      expect(budgetsFor('leaked', rule, '0', true).map(({ figure }) => figure)).toEqual(['leaked', 'leaked-blocks'])
    expect(budgetsFor('leaked', 'max', '1', true)).toHaveLength(1)
  })

  test.each([
    ['peak', 'max', '20%', /the limit of peak is a number such as 200M or 1000, not "20%"/],
    ['peak', 'max', '', /the limit of peak/],
    ['peak', 'max', '1.5M', /the limit of peak/],
    ['peak', 'max', '-1', /the limit of peak/],
    ['temporary', 'max', '20%+1', /20% or 1000/],
    ['peak', 'grow', '+64K', /5%, 64K or 5%\+64K/],
    ['peak', 'grow', '5%64K', /5%\+64K/],
    ['peek', 'max', '1', /no figure is called "peek" \(did you mean "peak"\?\)/],
    ['constructor', 'max', '1', /no figure is called "constructor"/],
  ] as const)('%s %s %j is refused', (figure, rule, text, message) => {
    expect(() => budgetsFor(figure, rule, text, false)).toThrow(message)
  })

  test('figures of the whole trace are refused for functions', () => {
    expect(() => budgetsFor('double-frees', 'max', '0', true)).toThrow('a figure of the whole trace')
  })
})

describe('the file of budgets', () => {
  const ALL = Object.keys(BUDGET_FIGURES)
  const OF_FUNCTIONS = ALL.filter((name) => BUDGET_FIGURES[name as 'peak'].ofFunctions)
  const each = (names: readonly string[], value: unknown) => Object.fromEntries(names.map((name) => [name, value]))

  test.each([
    { budgets: [{ max: each(ALL, 0), grow: each(ALL, '5%+64K') }] },
    { $schema: 'check.schema.json', budgets: [{ at: 'parse*', max: each(OF_FUNCTIONS, '10M') }] },
    { budgets: [{ each: '*', grow: { peak: '0.5%' } }, { max: { temporary: '20%', wasted: 7 } }] },
  ])('%j is read, and conforms to the schema', (value) => {
    expect(budgetsOf(value).length).toBe(value.budgets.length)
    expect(conforms(value, schema, schema)).toBe(true)
  })

  test.each<[unknown, RegExp]>([
    [[], /the file must be an object, not an array/],
    [null, /the file must be an object/],
    [{}, /budgets must be a list/],
    [{ budgets: [] }, /a list that is not empty/],
    [{ budgets: [{}] }, /budgets\[0\] has no budget/],
    [{ budgets: [{ max: {} }] }, /budgets\[0\] has no budget/],
    [{ budgets: [{ at: 'a' }] }, /budgets\[0\] has no budget/],
    [{ budgets: [{ at: '', max: { peak: 1 } }] }, /budgets\[0\]\.at must be a name/],
    [{ budgets: [{ at: 'a', each: 'b', max: { peak: 1 } }] }, /both at and each/],
    [{ budgets: [{ at: 'a', max: { blocks: 1 } }] }, /budgets\[0\]\.max: blocks is a figure of the whole trace/],
    [{ budgets: [{ max: { peak: 1.5 } }] }, /the limit of peak/],
    [{ budgets: [{ max: { peak: -1 } }] }, /the limit of peak/],
    [{ budgets: [{ max: { peak: 1e21 } }] }, /the limit of peak/],
    [{ budgets: [{ max: { peak: true } }] }, /a number or a text, not true/],
    [{ budgets: [{ max: { peak: '20%' } }] }, /budgets\[0\]\.max: the limit of peak/],
    [{ budgets: [{ max: { peek: 1 } }] }, /did you mean "peak"/],
    [{ budgets: [{ max: [] }] }, /budgets\[0\]\.max must be an object/],
    [{ budgets: [{ mox: { peak: 1 } }] }, /unknown key "mox" \(did you mean "max"\?\)/],
    [{ budgets: [{ max: { peak: 1 } }], limits: 1 }, /the file has an unknown key "limits"/],
    [JSON.parse('{"budgets": [{"max": {"__proto__": 1}}]}'), /no figure is called "__proto__"/],
  ])('%j is refused, and does not conform', (value, message) => {
    expect(() => budgetsOf(value)).toThrow(message)
    expect(conforms(value, schema, schema)).toBe(false)
  })
})
