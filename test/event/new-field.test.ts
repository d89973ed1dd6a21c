// @module-tag slow
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const LAST = "    { name: 'arena', type: 'string' },\n"

it('fields that are added to the list are in every lossless format and every transform, and losses elsewhere', () => {
  const root = mkdtempSync(join(tmpdir(), 'heapflow-new-field-'))
  try {
    for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(root, name))
    cpSync(join(ROOT, 'dist/lib'), join(root, 'dist/lib'), { recursive: true })
    symlinkSync(join(ROOT, 'dist/kernel'), join(root, 'dist/kernel'))
    const fields = join(root, 'dist/lib/event/fields.js')
    const text = readFileSync(fields, 'utf8')
    expect(text).toContain(LAST)
    const more = `${LAST}    { name: 'zone', type: 'u64' },\n    { name: 'pool', type: 'string' },\n`
    writeFileSync(fields, text.replace(LAST, more))
    const script = fileURLToPath(new URL('new-field.mjs', import.meta.url))
    const out = execFileSync(process.execPath, [script, root], { encoding: 'utf8' })
    expect(out.trim().split(' ').toSorted()).toEqual(['arrow', 'compact', 'compact', 'ndjson', 'parquet'])
  } finally {
    rmSync(root, { recursive: true })
  }
})
