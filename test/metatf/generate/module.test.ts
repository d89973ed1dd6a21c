// @module-tag slow
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HATF_12 } from '../../../lib/metatf/hatf-ascii/layout.js'
import { compileDtd, parseDtd, type Dtd } from '../../../lib/entry/metatf.js'
import { EVERYTHING } from '../ascii/dtds.js'
import { HATF10, SPLIT } from '../binary/support.js'
import { randomDtd } from '../random.js'
import { randomEventDtd } from './random.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const TSC = join(ROOT, 'node_modules', '.bin', 'tsc')

/** Names of types and fields that are those of the module itself, or of the language. */
const CLASHES = parseDtd(
  `tag.width = 2;
EventBatch : (tag, size, function) { tag.value = 4; size.width = 8; size.interpretation = none; function.width = 20; function.interpretation = none; }
Array : (tag, LO, type, class) { tag.value = 5; LO.width = 1; LO.interpretation = none; type.width = 1; type.interpretation = none; class.width = 1; class.interpretation = none; }
section Records 1 { __1 : (tag, Has, view, n, n * (n, pos)) { tag.value = 6; Has.width = 1; Has.interpretation = none; view.width = 1; view.interpretation = none; n.width = 1; n.interpretation = none; pos.width = 1; pos.interpretation = none; } }
section records 2 { delete : (tag, address, line, cpu) { tag.value = 7; address.width = 8; address.interpretation = none; line.width = 4; line.interpretation = none; cpu.width = 2; cpu.interpretation = none; } alloc : (tag, size, data) { tag.value = 8; size.width = 8; size.interpretation = none; data.width = 9; data.interpretation = none; } }
section text 3 { alloc : (tag, size, data) { tag.value = 8; size.width = 8; size.interpretation = none; data.width = 9; data.interpretation = none; } }`,
  'clashes.dtd',
)

/**
 * Names of fields, some of them in no event, that are those of variables and imports: comments in the code name them.
 */
const WORDS = [
  'bytes',
  'view',
  'strings',
  'table',
  'kind',
  'mask',
  'layouts',
  'sink',
  'little',
  'scratch',
  'getTag',
  'recordSlot',
  'MAX_BYTES',
  'NO_BYTES',
  'BY_DEFAULT',
  'HI',
  'HAS_FILE',
]
const TYPES = [
  'trace_record',
  'line_loops',
  'binary_loops',
  'promise',
  'symbol',
  'map',
  'object',
  'iterable',
  'string',
  'number',
  'boolean',
  'decoder_stream',
  'has',
  'H_I',
  'big_int',
  'data_view',
  'SPACE',
  'LOOPS',
  'HAS_SIZE',
  'readonly',
  'event',
  'uint8_array',
  'uint32_array',
  'buffer',
  'transform',
  'section_loops',
  'record_layout',
  'error',
]
const NAMES = parseDtd(
  `tag.width = 1; size.width = 4; size.interpretation = none; address.width = 8; address.interpretation = none;
${WORDS.map((name) => `${name}.interpretation = default 0;`).join('\n')}
alloc : (tag, size, address, ${WORDS.join(', ')}) { tag.value = 4; }
${TYPES.map((name, i) => `${name} : (tag, size) { tag.value = ${10 + i}; }`).join('\n')}`,
  'a Decoder, or Transform.dtd',
)
const LINE_NAMES = parseDtd(
  `## MetaTF: 1.2
## Words: type Decoder scratch setTag writeHex
int size = none; int address = none; ${WORDS.map((name) => `int ${name} = default 0;`).join(' ')}
alloc : {tag, size, address, ${WORDS.join(', ')}} { tag = 1; }
${TYPES.filter((name) => name !== 'string')
  .map((name, i) => `${name} : {tag, size} { tag = ${10 + i}; }`)
  .join('\n')}`,
  'Decoder.dtd',
)

const BLOCKS = parseDtd(readFileSync(join(ROOT, 'test/metatf/generate/blocks.dtd')), 'blocks.dtd')

const BARE = parseDtd(
  `tag.width = 1;
createThread : (tag) { tag.value = 4; }
destroyThread : (tag, junk) { tag.value = 5; junk.interpretation = default 0; }
section narrow 1 { lost : (tag, line) { tag.value = 6; line.width = 1; line.interpretation = none; } }`,
  'bare.dtd',
)

const MODULES: Readonly<Record<string, Dtd>> = {
  hatf10: HATF10,
  split: SPLIT,
  lines: HATF_12,
  everything: EVERYTHING,
  clashes: CLASHES,
  names: NAMES,
  lineNames: LINE_NAMES,
  blocks: BLOCKS,
  bare: BARE,
  ...Object.fromEntries(
    fc.sample(randomEventDtd(true), { numRuns: 12, seed: 1 }).map((text, i) => [`events${i}`, parseDtd(text, 'x.dtd')]),
  ),
  ...Object.fromEntries(
    fc
      .sample(randomDtd, { numRuns: 30, seed: 2 })
      .map((text, i) => [`any${i}`, parseDtd(text, 'x.dtd')] as const)
      .filter(([, dtd]) => dtd.version === '1.0'),
  ),
}

/** Uses the modules as people would. */
const PROGRAM = `
import { batchesOf, Readable } from './parts.js'
import { pipeline } from 'node:stream/promises'
import type { EventBatch, TraceEvent } from 'heapflow'
import * as blocks from './blocks.js'
import type { Alloc, Free, Mark, TraceRecord } from './blocks.js'

const alloc: Alloc = { kind: 'alloc', address: 0x7fff_0000_1000n, size: 24n, time: 5n, file: 'main.c' }
const mark: Mark = { kind: 'other', type: 'mark', code: 6, fields: { level: 3n, pair: [{ a: 1n, b: 2n }] } }
const free: Free = { kind: 'free', address: 0x7fff_0000_1000n, time: 70_000n }
const events: TraceEvent[] = [alloc, mark, free]

const found: TraceRecord[] = []
let seen = 0n
await pipeline(Readable.from(batchesOf(events, { format: 'x' })), blocks.encode({ strict: true }), blocks.decode(), async (batches: AsyncIterable<EventBatch>) => {
  for await (const batch of batches) {
    for (const record of blocks.recordsOf(batch)) {
      found.push(record)
      if (record.kind === 'alloc') seen += record.size
      if (record.kind === 'other') seen += record.fields.pair[0]?.b ?? 0n
    }
  }
})
console.log(JSON.stringify(found), String(seen))
`
const PARTS = "export { batchesOf } from 'heapflow'\nexport { Readable } from 'node:stream'\n"

const OPTIONS = {
  target: 'es2022',
  lib: ['es2024'],
  module: 'nodenext',
  types: ['node'],
  typeRoots: [join(ROOT, 'node_modules', '@types')],
  strict: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  noImplicitOverride: true,
  noFallthroughCasesInSwitch: true,
  noImplicitReturns: true,
  isolatedModules: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
}

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heapflow-compile-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/**
 * Runs the TypeScript compiler, and gives what it has to say about files of ours: it is not its business here what lib
 * has.
 */
function complaints(project: string): string[] {
  try {
    execFileSync(TSC, ['-p', project, '--pretty', 'false'], { encoding: 'utf8', stdio: 'pipe', cwd: folder })
    return []
  } catch (error) {
    return (error as { stdout: string }).stdout
      .split('\n')
      .filter((line) => /^(plain\/)?[a-z]\w*\.(ts|js)\(|^error/.test(line))
  }
}

/** A package heapflow, as it would be installed, made from the sources. */
function install(): void {
  const target = join(folder, 'node_modules', 'heapflow')
  mkdirSync(target, { recursive: true })
  try {
    for (const project of ['tsconfig.json', 'tsconfig.types.json']) {
      const to = ['--outDir', join(target, 'dist'), '--tsBuildInfoFile', join(target, `${project}.tsbuildinfo`)]
      execFileSync(TSC, ['-p', join(ROOT, project), ...to], { stdio: 'pipe' })
    }
  } catch {
    // What is wrong with lib is for other tests to find.
  }
  writeFileSync(join(target, 'package.json'), readFileSync(join(ROOT, 'package.json')))
  symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'))
  symlinkSync(join(ROOT, 'dist', 'kernel'), join(target, 'dist', 'kernel'))
}

test('modules are type-checked, also strictly, in both languages, and run', { timeout: 600_000 }, () => {
  install()
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'program.ts'), PROGRAM)
  writeFileSync(join(folder, 'parts.ts'), PARTS)
  for (const [name, dtd] of Object.entries(MODULES)) writeFileSync(join(folder, `${name}.ts`), compileDtd(dtd))
  const strict = {
    ...OPTIONS,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    declaration: true,
    outDir: 'out',
  }
  // One that is wrong, lest nothing is checked at all.
  writeFileSync(join(folder, 'wrong.ts'), 'export const wrong: string = 1\n')
  writeFileSync(join(folder, 'ts.json'), JSON.stringify({ compilerOptions: strict, include: ['*.ts'] }))
  expect(complaints('ts.json')).toEqual([expect.stringMatching(/^wrong\.ts\(1,14\): error TS2322/)])
  expect(execFileSync(process.execPath, ['out/program.js'], { cwd: folder, encoding: 'utf8' })).toBe(
    '[{"kind":"alloc","time":5,"address":"0x7fff00001000","size":24,"file":"main.c"},' +
      '{"kind":"other","type":"mark","code":6,"fields":{"level":3,"pair":[{"a":1,"b":2}]}},' +
      '{"kind":"free","time":70000,"address":"0x7fff00001000","line":0}] 26\n',
  )

  const plain = join(folder, 'plain')
  mkdirSync(plain)
  writeFileSync(join(plain, 'package.json'), '{ "type": "module" }')
  for (const [name, dtd] of Object.entries(MODULES))
    writeFileSync(join(plain, `${name}.js`), compileDtd(dtd, { language: 'js' }))
  writeFileSync(join(plain, 'wrong.js'), '/** @type {string} */\nexport const wrong = 1\n')
  writeFileSync(
    join(plain, 'js.json'),
    JSON.stringify({ compilerOptions: { ...OPTIONS, allowJs: true, checkJs: true, noEmit: true }, include: ['*.js'] }),
  )
  expect(complaints(join('plain', 'js.json'))).toEqual([
    expect.stringMatching(/^plain\/wrong\.js\(2,14\): error TS2322/),
  ])
  const names = Object.keys(MODULES).map((name) => `./${name}.js`)
  const script = `for (const name of ${JSON.stringify(names)}) { const { decoder, encoder } = await import(name); decoder(); encoder({ name: 'x' }) }`
  writeFileSync(join(plain, 'all.mjs'), script)
  execFileSync(process.execPath, ['all.mjs'], { cwd: plain, stdio: 'pipe' })
})
