import { describe, expect, test } from 'vitest'
import { comparedFrameText } from '../../lib/names/named-frame.js'

describe('the text of a frame of a compared stack', () => {
  test.each([
    ['parse', 'parse'],
    ['parse (parse.c:12)', 'parse at parse.c:12'],
    ['f(int) (dir (x)/a.c:7)', 'f(int) (dir at x)/a.c:7'],
    ['parse (parse.c:0)', 'parse (parse.c:0)'],
    ['parse (:12)', 'parse (:12)'],
    [' (a.c:12)', ' (a.c:12)'],
    ['libz.so+0x...f0', 'in libz.so+0x...f0'],
    ['0x55d0', '[0x55d0]'],
  ])('%s', (text, expected) => {
    expect(comparedFrameText(text)).toBe(expected)
  })

  test('takes time in proportion to its length, whatever the name is', () => {
    const name = `${' ('.repeat(500_000)}:`
    expect(comparedFrameText(name)).toBe(name)
  })
})
