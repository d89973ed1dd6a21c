import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** In the package, so that `heapflow` is this package, as it is built. */
const FOLDER = `${ROOT}dist/test-types/`

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
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    `${lib},dom`,
    '--types',
    'node',
  ]
  let errors = ''
  try {
    execFileSync(process.execPath, [`${ROOT}node_modules/typescript/bin/tsc`, '--ignoreConfig', ...options, ...files], {
      cwd: ROOT,
      encoding: 'utf8',
    })
  } catch (error) {
    errors = (error as { stdout: string }).stdout
  }
  expect(errors).toBe('')
})
