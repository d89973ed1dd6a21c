import { describe, expect, test } from 'vitest'
import { checkOptions } from '../../lib/event/options.js'
import { suggest } from '../../lib/event/suggest.js'

const COMMANDS = ['stats', 'filter', 'split', 'sort', 'merge', 'verify', 'convert', 'map']
const FIELDS = ['address', 'oldAddress', 'size', 'thread', 'callSite', 'endTime', 'time']

describe('suggest', () => {
  test.each([
    ['stat', COMMANDS, 'stats'],
    ['fliter', COMMANDS, 'filter'],
    ['spilt', COMMANDS, 'split'],
    ['conv', COMMANDS, 'convert'],
    ['addr', FIELDS, 'address'],
    ['call-site', FIELDS, 'callSite'],
    ['SIZE', FIELDS, 'size'],
    ['sise', FIELDS, 'size'],
    ['treads', FIELDS, 'thread'],
    ['leak', ['summary', 'peak', 'leaks'], 'leaks'],
    ['size', ['site', 'sizes'], 'sizes'],
    ['xyzzy', COMMANDS, undefined],
    ['ab', ['map'], undefined],
    ['', COMMANDS, undefined],
    ['s', COMMANDS, undefined],
    ['x'.repeat(100_000), ['x'.repeat(100_001)], undefined],
  ])('%.20s is %s', (word, candidates, meant) => expect(suggest(word, candidates)).toBe(meant))
})

describe('options', () => {
  interface Options {
    resolve?: boolean
    strict?: boolean
  }
  const names = { resolve: 'boolean', strict: 'boolean' } as const
  const check = (options: unknown) => () => checkOptions<Options>(options as Options, names, 'decode')

  test('that exist are taken, and so are none', () => {
    expect(check(undefined)).not.toThrow()
    expect(check({ resolve: true })).not.toThrow()
  })

  test('that do not exist are refused, with the name that was meant', () => {
    expect(check({ reslove: false })).toThrow(
      new RangeError('decode: unknown option "reslove" (did you mean "resolve"?)'),
    )
    expect(check({ whatever: undefined })).toThrow(
      new RangeError('decode: unknown option "whatever" (expected resolve, strict)'),
    )
    expect(check({ constructor: 1 })).toThrow(RangeError)
  })

  test('that are no object are a TypeError', () => {
    expect(check('mtrc')).toThrow(/^decode: the options must be a plain object, not "mtrc"$/)
    expect(check(null)).toThrow(expect.objectContaining({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' }))
  })
})
