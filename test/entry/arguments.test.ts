import { describe, expect, test } from 'vitest'
import * as heapflow from '../../lib/entry/index.js'

/** What a caller without types sees. */
const functions = heapflow as unknown as Record<string, (...values: unknown[]) => unknown>
const call = (name: string, ...values: unknown[]) => functions[name]!(...values)

describe('arguments of callers without types', () => {
  test.each(['blockTable', 'stackTable', 'simulate', 'generate', 'split'] as const)('%s needs options', (name) => {
    for (const value of [undefined, null, 'x', 7])
      expect(() => call(name, value)).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_ARG_TYPE',
          message: expect.stringMatching(/: the options must be an object, not (undefined|null|"x"|7)$/),
        }),
      )
  })

  test('compose needs streams', () => {
    expect(() => call('compose')).toThrow('compose(): two or more streams are needed, not 0')
    for (const value of [undefined, null, 'x', {}])
      expect(() => call('compose', heapflow.repair(), value)).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_ARG_TYPE',
          message: expect.stringMatching(/^compose\(\): not a stream: /),
        }),
      )
  })

  test('merge takes no null for its options', () => {
    expect(() => call('merge', 'a.mtrc', null)).toThrow(/^merge: input 2 must be a path, bytes,/)
  })
})
