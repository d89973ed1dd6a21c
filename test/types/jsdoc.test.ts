// @module-tag slow
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** In the package, so that `heapflow` is this package, as it is built. */
const FOLDER = `${ROOT}dist/test-jsdoc/`

/** Where examples find their names, which are imported for them; the first module that has one. */
const MODULES = ['heapflow', 'heapflow/stages', 'heapflow/format', 'heapflow/testing', 'heapflow/metatf']
const NODE = {
  'node:fs': ['createReadStream', 'createWriteStream'],
  'node:fs/promises': ['writeFile'],
  'node:stream': ['Readable'],
  'node:stream/promises': ['pipeline'],
  'node:test': ['test'],
  'node:zlib': ['createGzip'],
}
/** What an example takes from its surroundings. */
const GIVEN: Readonly<Record<string, string>> = {
  groups: "import('heapflow').BudgetGroup[]",
  format: "import('heapflow/format').Format",
  bytes: 'Uint8Array',
  batches: "AsyncIterable<import('heapflow').EventBatch>",
  // The sink of a profile or of a report.
  sink: '{ result: Promise<never> }',
  dtd: "import('heapflow/metatf').Dtd",
}

/** The code of the examples in the comments of a source. */
function examplesIn(text: string): string[] {
  return [...text.matchAll(/\/\*\*(?:[^*]|\*(?!\/))*\*\//g)].flatMap(([comment]) => {
    const lines = comment
      .replace(/\*\/$/, '')
      .split('\n')
      .map((line) => line.replace(/^\s*(\/\*)?\*+ ?/, ''))
    return lines
      .join('\n')
      .split(/^(?=@)/m)
      .filter((part) => part.startsWith('@example'))
      .map((part) => part.slice('@example'.length).trim())
  })
}

const uses = (code: string, name: string) => new RegExp(`(?<![.\\w'])${name}\\b(?!['\\w]| ?:[^:])`).test(code)
const declares = (code: string, name: string) => new RegExp(`\\b(const|let|function) (\\{[^}]*)?${name}\\b`).test(code)

test('every @example compiles under strict', async () => {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const names = new Map(Object.entries(NODE).flatMap(([module, list]) => list.map((name) => [name, module] as const)))
  for (const module of MODULES) {
    const path = `${ROOT}dist/lib/entry/${module === 'heapflow' ? 'index' : module.slice('heapflow/'.length)}.js`
    for (const name of Object.keys((await import(path)) as object)) if (!names.has(name)) names.set(name, module)
  }
  const files: string[] = []
  for (const path of readdirSync(`${ROOT}lib`, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts')) continue
    for (const [i, code] of examplesIn(readFileSync(`${ROOT}lib/${path}`, 'utf8')).entries()) {
      const imports = [...names].filter(([name]) => uses(code, name) && !declares(code, name))
      const given = Object.entries(GIVEN).filter(([name]) => uses(code, name) && !declares(code, name))
      const file = `${FOLDER}${path.replace(/\W/g, '_')}_${i + 1}.ts`
      const lines = [
        ...imports.map(([name, module]) => `import { ${name} } from '${module}'`),
        ...given.filter(([name]) => !names.has(name)).map(([name, type]) => `declare const ${name}: ${type}`),
      ]
      writeFileSync(file, `${lines.join('\n')}\n${code}\nexport {}\n`)
      files.push(file)
    }
  }
  expect(files.length).toBeGreaterThanOrEqual(15)
  const options = '--noEmit --strict --skipLibCheck --module nodenext --target es2022 --types node'.split(' ')
  let errors = ''
  try {
    const tsc = `${ROOT}node_modules/typescript/bin/tsc`
    execFileSync(process.execPath, [tsc, '--ignoreConfig', ...options, ...files], { cwd: ROOT, encoding: 'utf8' })
  } catch (error) {
    errors = (error as { stdout: string }).stdout
  }
  expect(errors).toBe('')
})
