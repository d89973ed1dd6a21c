import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const script = new URL('../scripts/lint-text.mjs', import.meta.url).href
const { WORDS, faultsOf } = (await import(script)) as {
  WORDS: Record<string, RegExp | null>
  faultsOf: (path: string, text: string) => string[]
}

test('the rules are those of the table in CONTRIBUTING.md', () => {
  const text = readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8')
  const [, table = ''] = text.split('| instead of | write |\n|---|---|\n')
  const rows = (table.split('\n\n')[0] ?? '').split('\n').map((row) => row.split('|')[1]?.trim())
  expect(Object.keys(WORDS)).toEqual(rows)
})

test.each([
  ['a.ts', '// nobody reads it', 'a.ts:1: "nobody": see "who, somebody, nobody" in the table of CONTRIBUTING.md'],
  ['a.md', 'all but for one', 'a.md:1: "but for": see "but for" in the table of CONTRIBUTING.md'],
  ['a.ts', `const a = 1\n// ${'word '.repeat(25)}`, 'a.ts:2: 128 columns, more than 120'],
  ['a.md', 'word '.repeat(25), 'a.md:1: 125 columns, more than 120'],
  ['lib/a.ts', `const a = '${'word '.repeat(25)}'`, 'lib/a.ts:1: 137 columns, more than 120'],
])('of %s, %j is refused', (path, text, fault) => {
  expect(faultsOf(path, text)).toEqual([fault])
})

test.each([
  ['a.ts', `const a = '${'word '.repeat(25)}'`],
  ['a.md', `| ${'word '.repeat(25)} |`],
  ['a.md', `\`\`\`console\n${'word '.repeat(25)}\n\`\`\``],
  ['test/golden/a.txt', 'nobody'],
  ['a.md', 'No one reads it, and the block whose lifetime ends is freed.'],
])('of %s, %j is taken', (path, text) => {
  expect(faultsOf(path, text)).toEqual([])
})
