import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { withDemangled } from '../../lib/cli/demangled-rules.js'
import { SuppressionSet } from '../../lib/names/suppression-set.js'
import { parseSuppressions, SuppressibleFrames } from '../../lib/names/suppressions.js'
import { isInstalled } from '../../lib/streams/symbols/installed.js'

const rule = (...functions: string[]) =>
  `{\n   name\n   Memcheck:Leak\n${functions.map((name) => `   fun:${name}\n`).join('')}}\n`

describe.skipIf(!isInstalled('c++filt'))('rules with symbols', () => {
  /**
   * What valgrind 3.19 wrote for a program in C++ (`--leak-check=full --gen-suppressions=all`), and the blocks that the
   * same program leaks, as hf-record and hf-symbolize have their stacks. The first one is of the runtime.
   */
  const read = (name: string) => readFileSync(new URL(`../names/${name}`, import.meta.url), 'utf8')
  const leaks = JSON.parse(read('leaks.json')) as readonly { size: number; stack: readonly string[] }[]

  test('of valgrind hold for the leaks of which they were made', () => {
    const { text, warning } = withDemangled(read('leaks.supp'))
    expect(warning).toBeUndefined()
    const frames = new SuppressibleFrames()
    const rules = parseSuppressions(text)
    expect(leaks.map(({ stack }) => new SuppressionSet(rules).find(frames.of({ stack })))).toEqual([
      -1, 3, 4, 0, 5, 2, 6, 1,
    ])
    // Of each rule alone.
    const held = rules.map((one) => leaks.filter(({ stack }) => one.matches(frames.of({ stack }))).length)
    expect(held).toEqual([1, 1, 1, 1, 1, 1, 1])
  })

  test('have the names of functions after a tab', () => {
    expect(withDemangled(rule('_Znwm', '_ZN3app1fEi.part.0', 'main'))).toEqual({
      text: rule('_Znwm', '_ZN3app1fEi.part.0\tapp::f(int)', 'main'),
    })
    const plain = rule('_Zn*', 'malloc', '_Read', 'app::*')
    expect(withDemangled(plain)).toEqual({ text: plain })
  })

  test('that stand for nothing known are warned of', () => {
    const text = rule('_ZN3app*', '_ZN3app1fEi', 'main')
    const { text: named, warning } = withDemangled(text)
    expect(named).toBe(rule('_ZN3app*', '_ZN3app1fEi\tapp::f(int)', 'main'))
    expect(warning).toBe(
      'fun:_ZN3app* cannot be demangled, and fits only traces with mangled names; ' +
        'a rule may have names as the trace has them, such as fun:app::*',
    )
    expect(withDemangled(rule('_ZN3app?', '_Z-', '_ZN3app?')).warning).toContain(
      'fun:_ZN3app? and 1 more cannot be demangled',
    )
  })
})

test('rules with symbols are warned of where there is no c++filt', () => {
  const { PATH } = process.env
  try {
    process.env['PATH'] = '/nowhere'
    const text = rule('_Znwm', '_ZN3app1fEi')
    expect(withDemangled(text)).toEqual({
      text,
      warning: expect.stringContaining('cannot be demangled, because there is no c++filt,') as unknown,
    })
  } finally {
    process.env['PATH'] = PATH
  }
})
