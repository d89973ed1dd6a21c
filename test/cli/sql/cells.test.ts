import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ColumnCells } from '../../../lib/cli/sql/cells.js'
import { runs } from '../../support/runs.js'

const long = (text: string, length = 200) => text.repeat(Math.ceil(length / text.length)).slice(0, length)

test('short cells stay, and a long one is truncated', () => {
  const text = long('abc')
  const cells = new ColumnCells()
  expect(cells.show(['', 'a', long('x', 120), text])).toEqual(['', 'a', long('x', 120), `${text.slice(0, 117)}...`])
  expect(cells.show([text, text])).toEqual([`${text.slice(0, 117)}...`, `${text.slice(0, 117)}...`])
})

test('with isFull long cells are whole', () => {
  expect(new ColumnCells(true).show([long('abc')])).toEqual([long('abc')])
})

test('long cells with the same beginning show where they differ', () => {
  const start = 'std::map<std::string, '.repeat(20)
  const [one, two] = new ColumnCells().show([`${start}int>`, `${start}double>`]) as [string, string]
  expect(one).toMatch(/^std::map<std::string, std::map<std::stri\.\.\..*int>$/)
  expect(two).toMatch(/^std::map<std::string, std::map<std::stri\.\.\..*double>$/)
  // Also if the other one came long before.
  const cells = new ColumnCells()
  cells.show([`${start}int>`])
  expect(cells.show([`${start}double>`])[0]).toContain('double>')
})

test('cells that differ look different, however they differ', () => {
  const part = fc.array(fc.constantFrom('a', 'b', 'aa', long('ab', 60), long('a', 150)), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(
      fc.array(
        fc.array(
          part.map((parts) => parts.join('')),
          { maxLength: 20 },
        ),
        { maxLength: 5 },
      ),
      (batches) => {
        const cells = new ColumnCells()
        const shown = new Map<string, string>()
        for (const texts of batches) {
          const forms = cells.show(texts)
          expect(forms).toHaveLength(texts.length)
          forms.forEach((form, i) => {
            const text = texts[i]
            expect(form.length).toBeLessThanOrEqual(130)
            // The same cell looks the same; the form of a truncated one is that of no other truncated one.
            expect(shown.get(text) ?? form).toBe(form)
            shown.set(text, form)
          })
        }
        const ofLong = [...shown].filter(([text]) => text.length > 120).map(([, form]) => form)
        expect(new Set(ofLong).size).toBe(ofLong.length)
      },
    ),
    { numRuns: runs(300) },
  )
})

test('no more cells are remembered than memory allows', () => {
  const cells = new ColumnCells()
  const texts = Array.from({ length: 11_000 }, (_, i) => `${long('a')}${i}`)
  const forms = cells.show(texts)
  expect(new Set(forms).size).toBe(10_001)
})
