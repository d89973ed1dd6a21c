import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** In the package, so that `heapflow` is this package, as it is built. */
const FOLDER = `${ROOT}dist/test-types/`

const OPTIONS = ['--ignoreConfig', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', 'node']

function complaints(more: readonly string[]): string {
  const tsc = `${ROOT}node_modules/typescript/bin/tsc`
  try {
    execFileSync(process.execPath, [tsc, ...OPTIONS, '--target', 'es2022', ...more], { cwd: ROOT, encoding: 'utf8' })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

// With `esnext`, iterators are disposable.
test.each(['es2022', 'esnext'])('every JavaScript example in the documents compiles under strict with %s', (lib) => {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const documents = [
    'README.md',
    ...readdirSync(`${ROOT}docs`).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
  ]
  const files = documents.flatMap((path) =>
    [...readFileSync(ROOT + path, 'utf8').matchAll(/^```[jt]s\n(.*?)^```$/gms)].flatMap(([, code = ''], i) => {
      const file = `${FOLDER}${path.replace(/\W/g, '_')}_${i + 1}.ts`
      // Top-level await needs a module.
      writeFileSync(file, `${code}\nexport {}\n`)
      // Modules that metatf-compile makes are tested with it.
      return / from '\.\//.test(code) ? [] : [file]
    }),
  )
  expect(files.length).toBeGreaterThanOrEqual(5)
  expect(complaints(['--noEmit', '--lib', `${lib},dom`, ...files])).toBe('')
})

/** A library that exports what heapflow made, without saying its type. */
const EXPORTED = `
import * as heapflow from 'heapflow'
import { joinAddresses, splitAddresses } from 'heapflow/hatf'
import { decodeBinary, parseDtd } from 'heapflow/metatf'
import * as stages from 'heapflow/stages'
import { decodeAll } from 'heapflow/testing'

export const { arrow, compact, hatf, kmemtrace, ltrace, mtrc, parquet, tracepoints } = heapflow
export const streams = [heapflow.decodeAny(), heapflow.decompress(), hatf.encode(), heapflow.sort({ by: 'time' })] as const
export const composed = heapflow.compose(heapflow.decompress(), heapflow.decodeAny())
export const readers = [heapflow.events('a'), heapflow.openTrace('a'), heapflow.blocks('a'), heapflow.merge('a')] as const
export const files = [heapflow.filterFile('a'), heapflow.generate({ model: 'larson', events: 1 })] as const
export const transforms = [heapflow.verify(), heapflow.repair(), heapflow.simulate({ policy: 'bump' })] as const
export const made = [heapflow.prepareReplay(), heapflow.cSource(), heapflow.blockTable({ to: 'csv' })] as const
export const sinks = [heapflow.stats(), heapflow.profile(), heapflow.report(), heapflow.lifetimes()] as const
export const more = [heapflow.traceModel(), heapflow.measure([], 'a'), heapflow.split({ by: 'thread' }, () => heapflow.stats())] as const
export const results = Promise.all(sinks.map((sink) => sink.result))
export const checked = heapflow.check([], [], [])
export const program = heapflow.record(['a'])
export const { FIELDS, FORMATS, GROUPS, POLICIES, REPAIRS } = stages
export const filter = new stages.Filter()
export const stream = stages.transformStream(filter)
export const halves = [splitAddresses(), joinAddresses] as const
export const dtd = parseDtd('')
export const decoder = decodeBinary(dtd)
export const decoded = decodeAll(decoder as never, new Uint8Array(0))
`

test('declarations of a program can name the types of what it exports', () => {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(`${FOLDER}exported.ts`, EXPORTED)
  const emit = ['--declaration', '--emitDeclarationOnly', '--rootDir', ROOT, '--outDir', `${FOLDER}out`]
  expect(complaints([...emit, `${FOLDER}exported.ts`])).toBe('')
})
