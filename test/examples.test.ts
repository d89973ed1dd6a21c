// @module-tag slow
import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROJECT, scratch, shell } from './support/commands.js'

const directory = new URL('../examples/', import.meta.url)
const names = readdirSync(directory).filter((name) => /\.(sh|mjs)$/.test(name))

/**
 * Runs an example and gives its standard output; fails, with what it said on standard error, unless it exits with 0.
 */
function run(name: string): Promise<string> {
  const path = fileURLToPath(new URL(name, directory))
  const program = name.endsWith('.sh') ? 'bash' : process.execPath
  return new Promise((resolve, reject) => {
    execFile(program, [path], { maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      if (error !== null) reject(new Error(`${error.message}\n${stderr}`))
      else resolve(stdout)
    })
  })
}

describe('examples', () => {
  test('there are some, and the package is built', () => {
    expect(names).not.toEqual([])
    expect(existsSync(new URL('../dist/lib/entry/index.js', import.meta.url)), 'run `npm run build` first').toBe(true)
  })

  test('every expected output belongs to an example', () => {
    const outputs = readdirSync(directory).filter((name) => name.endsWith('.out'))
    expect(outputs.map((name) => name.slice(0, -'.out'.length)).toSorted()).toEqual(
      names.map((name) => name.replace(/\.\w+$/, '')).toSorted(),
    )
  })

  test.each(names)('%s prints what it should', async (name) => {
    const expected = readFileSync(new URL(name.replace(/\.\w+$/, '.out'), directory), 'utf8')
    expect(await run(name)).toBe(expected)
  })
})

const root = fileURLToPath(new URL('../', import.meta.url))
const blocksOf = (path: string, language: string) =>
  [...readFileSync(join(root, path), 'utf8').matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, code = '']) => ({ path, code }),
  )

/** A folder with traces of the names that the documents use. */
function traces(): string {
  const folder = scratch()
  const fixture = (name: string) => join(root, 'test/fixtures', name)
  copyFileSync(fixture('mtrc/small64.mtrc.gz'), join(folder, 'app.mtrc.gz'))
  writeFileSync(join(folder, 'app.mtrc'), gunzipSync(readFileSync(fixture('mtrc/small64.mtrc.gz'))))
  for (const name of ['a.hatf', 'b.hatf']) copyFileSync(fixture('hatf/espresso-head.hatf'), join(folder, name))
  const timed = readFileSync(join(root, 'test/golden/replay/timed.txt'))
  writeFileSync(join(folder, 'a.txt'), timed)
  writeFileSync(join(folder, 'b.txt.gz'), gzipSync(timed))
  mkdirSync(join(folder, 'test'))
  mkdirSync(join(folder, 'test/fixtures'))
  mkdirSync(join(folder, 'test/fixtures/mtrc'))
  copyFileSync(join(root, 'examples/own-format/app.utrace'), join(folder, 'app.utrace'))
  copyFileSync(fixture('mtrc/git.mtrc.gz'), join(folder, 'test/fixtures/mtrc/git.mtrc.gz'))
  return folder
}

describe('programs in the documents', () => {
  /** In the package, so that `heapflow` is this package, as it is built; or where it is installed. */
  const programs = join(PROJECT ?? join(root, 'dist'), 'test-examples')
  beforeAll(() => {
    mkdirSync(programs, { recursive: true })
    copyFileSync(join(root, 'examples/own-format/utrace.mjs'), join(programs, 'utrace.mjs'))
  })
  afterAll(() => rmSync(programs, { recursive: true }))

  test.each(
    ['README.md', 'docs/library.md', 'docs/formats.md']
      .flatMap((path) => blocksOf(path, 'js'))
      .map((block, i) => ({ ...block, i })),
  )('in $path run: $i', async ({ code, i }) => {
    const program = join(programs, `${i}.mjs`)
    writeFileSync(program, code)
    expect(await shell(`cd ${traces()} && "${process.execPath}" ${program}`)).toMatchObject({ code: 0 })
  })

  test('in docs/library.md in TypeScript run', async () => {
    const [{ code } = { code: '' }] = blocksOf('docs/library.md', 'ts')
    writeFileSync(join(programs, 'stages.mts'), code)
    const program = join(programs, 'stages.mjs')
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const options = '--ignoreConfig --module nodenext --target es2022 --types node --skipLibCheck'
    expect(await shell(`"${process.execPath}" ${tsc} ${options} ${join(programs, 'stages.mts')}`)).toMatchObject({
      code: 0,
    })
    expect(await shell(`cd ${traces()} && "${process.execPath}" ${program}`)).toMatchObject({ code: 0 })
  })
})
