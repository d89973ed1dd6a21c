// @module-tag slow
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as esbuild } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build as vite } from 'vite'

const root = fileURLToPath(new URL('../../', import.meta.url))
const TRACE = join(root, 'test/fixtures/mtrc/small64.mtrc.gz')

const PROGRAM = `
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { decodeAny, decompress, events, exportReport, report } from 'heapflow'
let count = 0
for await (const event of events(process.argv[2])) if (event.kind === 'alloc') count++
const sink = report()
await pipeline(createReadStream(process.argv[2]), decompress(), decodeAny(), sink)
console.log(count, exportReport(await sink.result, {}).length > 100_000)
`

/** Where the program is bundled: it can load heapflow there, and not where it runs. */
const from = mkdtempSync(join(tmpdir(), 'heapflow-'))
const to = mkdtempSync(join(tmpdir(), 'heapflow-'))
const entry = join(from, 'program.mjs')

beforeAll(() => {
  mkdirSync(join(from, 'node_modules'))
  symlinkSync(root, join(from, 'node_modules/heapflow'))
  writeFileSync(entry, PROGRAM)
})

afterAll(() => {
  for (const folder of [from, to]) rmSync(folder, { recursive: true })
})

const run = (name: string, folder: string) =>
  execFileSync(process.execPath, [join(folder, name), TRACE], { encoding: 'utf8' }).trim()

test.each([
  [
    'esbuild',
    (outdir: string) =>
      esbuild({
        entryPoints: [entry],
        outdir,
        bundle: true,
        platform: 'node',
        format: 'esm',
        outExtension: { '.js': '.mjs' },
        logLevel: 'error',
      }),
  ],
  [
    'vite',
    (outDir: string) =>
      vite({
        root: from,
        configFile: false,
        logLevel: 'error',
        build: { ssr: entry, outDir, emptyOutDir: true },
        ssr: { noExternal: true, target: 'node' },
      }),
  ],
] as const)('a bundle that %s makes for Node needs no files beside it', async (name, build) => {
  const folder = join(to, name)
  await build(folder)
  const expected = run('program.mjs', from)
  expect(expected).toMatch(/^\d{3,} true$/)
  expect(run('program.mjs', folder)).toBe(expected)
})
