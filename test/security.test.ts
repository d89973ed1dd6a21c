import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const TEXT = readFileSync(new URL('../SECURITY.md', import.meta.url), 'utf8')

/** The rows of the table: what is limited, to how much, and the constant that says so. */
const LIMITS = [...TEXT.matchAll(/^\| (.+) \| ([\d,]+) \| `(\w+)` of `(lib\/[^`]+)\.ts` \|$/gm)].map(
  ([, what, most, name, file]) => [what, Number(most!.replaceAll(',', '')), name, file] as const,
)

test('the document has a row for each limit', () => {
  const rows = TEXT.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| what'))
  expect(LIMITS).toHaveLength(rows.length)
  expect(rows.length).toBeGreaterThan(20)
})

test('the limit of the lines of each format is in the document', () => {
  const files = readdirSync(new URL('../lib/', import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `lib/${name}`)
    .filter((path) =>
      /^export const MAX_LINE(_BYTES)? =/m.test(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')),
    )
  expect(files.length).toBeGreaterThan(3)
  const listed = LIMITS.map(([, , , file]) => `${file}.ts`)
  expect(files.filter((path) => !listed.includes(path))).toEqual([])
})

test.each(LIMITS)('%s: %i', async (_, most, name, file) => {
  const url = new URL(`../${file}.ts`, import.meta.url).href
  const module = (await import(/* @vite-ignore */ url)) as Record<string, unknown>
  expect(module[name as string]).toBe(most)
})
