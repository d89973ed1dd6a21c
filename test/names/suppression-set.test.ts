import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SuppressionSet } from '../../lib/names/suppression-set.js'
import { parseSuppressions, SuppressibleFrames } from '../../lib/names/suppressions.js'
import { runs } from '../support/runs.js'

const NAMES = ['malloc', 'operator new(unsigned long)', 'read', 'reader', 'main', 'cache.c', '/lib/libz.so', 'a']
const name = fc.constantFrom(...NAMES)
const frame = fc.oneof(
  name,
  fc.tuple(name, name).map(([fn, file]) => `${fn} at ${file}:3`),
  fc.tuple(name, name).map(([fn, module]) => `${fn} in ${module}+0x10`),
)
const pattern = fc.oneof(name, fc.constantFrom('^rea*', 'er$', '*', '?ead', 'm*n', 'nothing', 'lib'))
const line = fc.oneof(
  fc.constant('...'),
  fc.tuple(fc.constantFrom('fun', 'obj', 'src'), pattern).map(([kind, text]) => `${kind}:${text}`),
)
const rule = fc.oneof(
  pattern.map((text) => `leak:${text}`),
  fc.array(line, { minLength: 1, maxLength: 5 }).map((lines) => `{\nname\nMemcheck:Leak\n${lines.join('\n')}\n}`),
)

test('finds the first rule that holds, as trying all of them does', () => {
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 70 }),
      fc.array(fc.array(frame, { maxLength: 8 }), { maxLength: 20 }),
      (texts, stacks) => {
        const rules = parseSuppressions(texts.join('\n'))
        const set = new SuppressionSet(rules)
        const frames = new SuppressibleFrames()
        for (const stack of stacks) {
          const views = frames.of({ stack })
          expect(set.find(views)).toBe(rules.findIndex((one) => one.matches(views)))
        }
      },
    ),
    { numRuns: runs(300) },
  )
})

test('compares each distinct frame once', () => {
  const rules = parseSuppressions(Array.from({ length: 200 }, (_, i) => `leak:unknown_${i}*x`).join('\n'))
  let compared = 0
  const counting = rules.map((one) => ({
    ...one,
    needs: one.needs.map((fits) => (view: Parameters<typeof fits>[0]) => {
      compared++
      return fits(view)
    }),
  }))
  const set = new SuppressionSet(counting)
  const frames = new SuppressibleFrames()
  for (let i = 0; i < 1000; i++) expect(set.find(frames.of({ stack: [`f${i % 40}`, `g${i % 7}`, 'main'] }))).toBe(-1)
  expect(compared).toBe(200 * 48)
})

test('a file has at most 10,000 patterns', () => {
  const lines = (n: number) => 'leak:a\n'.repeat(n)
  expect(parseSuppressions(lines(10_000))).toHaveLength(10_000)
  expect(() => parseSuppressions(lines(10_001))).toThrow('line 10001: there are more than 10000 patterns')
  const block = `{\nb\nMemcheck:Leak\n${'fun:f\n'.repeat(10_000)}}\nleak:x`
  expect(() => parseSuppressions(block)).toThrow('there are more than 10000 patterns')
  expect(() => parseSuppressions(`${block.slice(0, -7)}`)).toThrow('there are more than 10000 patterns')
})
