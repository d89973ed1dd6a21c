import { describe, expect, test } from 'vitest'
import { orFlagError, UsageError } from '../../lib/cli/command.js'

describe('orFlagError', () => {
  const message = (text: string, options: object, of?: string): string => {
    try {
      orFlagError(
        options,
        () => {
          throw new RangeError(text)
        },
        of,
      )
    } catch (error) {
      if (error instanceof UsageError) return error.message
      throw error
    }
    return ''
  }

  test.each([
    ['blockSize must be a power of two, not 3', { blockSize: 3 }, '--block-size must be a power of two, not 3'],
    ['fast and best cannot be combined', { fast: true, best: true }, '--fast and --best cannot be combined'],
    ['classes: each must be even', { classes: [3] }, '--classes: each must be even'],
    ['list is an option of first-fit, not bump', { list: 'address' }, '--list is an option of first-fit, not bump'],
    ['a page cannot have 3 bytes', { page: 3 }, 'a page cannot have 3 bytes'],
    ['names must be texts', {}, 'names must be texts'],
  ])('%s', (text, options, about) => {
    expect(message(text, options)).toBe(about)
  })

  test('the name of the function is left out', () => {
    expect(message('filter: size: an empty range', { size: [] }, 'filter')).toBe('--size: an empty range')
    expect(message('generate(): seed must be whole', { seed: 0.5 }, 'generate()')).toBe('--seed must be whole')
  })

  test('what is made is the result, and other errors stay as they are', () => {
    expect(orFlagError({}, () => 7)).toBe(7)
    const fault = new TypeError('size must be a number')
    expect(() =>
      orFlagError({ size: '' }, () => {
        throw fault
      }),
    ).toThrow(fault)
  })
})
