import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { isTooLarge } from '../../../lib/cli/report/copy-size.js'
import { scratch, shell } from '../../support/commands.js'

const FILE = 'test/fixtures/heaptrack/mtv-small.heaptrack.gz'
const { size } = statSync(FILE)
const text = gunzipSync(readFileSync(FILE))

function written(name: string, bytes: Uint8Array): string {
  const path = `${scratch()}/${name}`
  writeFileSync(path, bytes)
  return path
}

describe('a trace that cannot have room in a page', () => {
  test('is an interpreted heaptrack file of more than eight times the limit, compressed', async () => {
    expect(await isTooLarge(FILE, Math.floor((size - 1) / 8))).toBe(true)
    expect(await isTooLarge(FILE, Math.ceil(size / 8))).toBe(false)
    const plain = written('plain', text)
    expect(await isTooLarge(plain, 1)).toBe(false)
  })

  test('is none of another format, and none that is raw, damaged, absent or a pipe', async () => {
    const raw = Buffer.from('v 10400 3\nx 4 /b/c\nX ./a\nm 1 -\nt 10 0\n+ 10 1 1000\n')
    expect(await isTooLarge(written('raw.gz', gzipSync(raw)), 1)).toBe(false)
    expect(await isTooLarge('test/fixtures/mtrc/small64.mtrc.gz', 1)).toBe(false)
    const damaged = written('damaged.gz', gzipSync(text))
    truncateSync(damaged, 15)
    for (const path of [damaged, '/no/such/file', scratch(), '-']) expect(await isTooLarge(path, 1)).toBe(false)
  })

  test('is reported without a copy, with the same words and tables', async () => {
    const path = `${scratch()}/page.html`
    for (const limit of [Math.floor((size - 1) / 8), Math.ceil(size / 8)]) {
      expect((await shell(`hf-report --embed ${limit} -o ${path} ${FILE}`)).code).toBe(0)
      const page = readFileSync(path, 'utf8')
      const said = `as a compact trace it has more than ${limit} bytes.`
      expect(page.includes(said)).toBe(true)
      const tables = page.slice(page.indexOf('<h2>Timeline'), page.indexOf('<h2>Problems in the trace'))
      expect(tables).toContain('<h2>Sizes</h2>')
      // Such a file does not say which block is freed.
      expect(tables).not.toMatch(/temporary|mean time|by when it was allocated/i)
    }
  })
})
