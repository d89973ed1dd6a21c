import { expect, test } from 'vitest'

const script = new URL('../scripts/check-chunk.mjs', import.meta.url).href
const { checkChunk } = (await import(script)) as { checkChunk: (path: string, code: string) => void }

test.each([
  ['const a = 1', undefined],
  ["/** @type {import('x').T} */\nconst a = 1", undefined],
  ['const a = 1\nimport a from "x"', 'cannot be CommonJS: import a from "x"'],
  ['const a = import.meta.dirname', 'cannot be CommonJS: import.meta.dirname'],
  ['const a = 1\nconst b = await import(name)', 'only literal names can be imported: const b = await import(name)'],
  ['const a = () => import(`x`)', 'only literal names can be imported: const a = () => import(`x`)'],
  ['const a = 1\nconst b = /[\u00e4-\u00fc]/', 'not ASCII: const b = /[\u00e4-\u00fc]/'],
  ['// \u2026', 'not ASCII: // \u2026'],
])('the code of a chunk is checked: %j', (code, problem) => {
  const check = () => checkChunk('a.js', code)
  if (problem === undefined) expect(check).not.toThrow()
  else expect(check).toThrow(`a.js: ${problem}`)
})
