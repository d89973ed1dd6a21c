import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { scratch } from './support/commands.js'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const { bin, exports, peerDependencies, devDependencies } = JSON.parse(
  readFileSync(`${ROOT}package.json`, 'utf8'),
) as Manifest

/** The paths of the files that would be published. */
const packed = (
  JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as { files: { path: string }[] }[]
)[0]!.files.map(({ path }) => path)

test('the package has every command and every door', () => {
  const doors = Object.values(exports).flatMap((door) =>
    typeof door === 'string' ? [door] : [door.types, door.default],
  )
  const wanted = [...Object.values(bin), ...doors].map((path) => path.replace('./', ''))
  expect(wanted.filter((path) => !packed.includes(path))).toEqual([])
  expect(packed).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md']))
})

test('the package has every module that another one of it imports', () => {
  const missing = packed
    .filter((path) => /\.(js|d\.ts)$/.test(path))
    .flatMap((path) => {
      const imports = readFileSync(ROOT + path, 'utf8').matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+\.js)'/g)
      const targets = [...imports].map(([, target]) => new URL(target!, `file:///${path}`).pathname.slice(1))
      // The types of a bundle import types of modules that are inside it.
      const isThere = (target: string) =>
        packed.includes(path.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target)
      return targets.filter((target) => !isThere(target))
    })
  expect(missing).toEqual([])
})

test('bundlers find no machine code in the library, and look for no files', () => {
  // A module in embedded/ takes the place of these two.
  const replaced = /\/(read-kernel|read-page)\.js$/
  const modules = packed.filter((path) => /^dist\/lib\/.*\.js$/.test(path) && !replaced.test(path))
  const followed = /import \{[^}]*createRequire[^}]*\} from|new URL\([^)]*import\.meta\.url\)/
  expect(modules.filter((path) => followed.test(readFileSync(join(ROOT, path), 'utf8')))).toEqual([])
})

test('the package has nothing that only developers need', () => {
  const surplus = packed.filter(
    (path) =>
      /^(bench|kernel|scripts|test|bin|dist\/test|dist\/bin\/compiled)\//.test(path) ||
      /^dist\/bin\/.*\.d\.ts$/.test(path),
  )
  expect(surplus).toEqual([])
  expect(packed.filter((path) => /architecture|size-study|CONTRIBUTING/.test(path))).toEqual([])
})

test('npm takes the versions of peers that are tested', { tags: ['slow'] }, () => {
  const folder = scratch()
  const manifest = (name: string, content: object) => {
    mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, name, 'package.json'), JSON.stringify(content))
  }
  const optional = Object.fromEntries(Object.keys(peerDependencies).map((name) => [name, { optional: true }]))
  manifest('heapflow', { name: 'heapflow', version: '1.0.0', peerDependencies, peerDependenciesMeta: optional })
  for (const name of Object.keys(peerDependencies)) manifest(name, { name, version: devDependencies[name] })
  const names = ['heapflow', ...Object.keys(peerDependencies)]
  manifest('', { dependencies: Object.fromEntries(names.map((name) => [name, `file:${name}`])) })
  const line = ['install', '--offline', '--dry-run', '--strict-peer-deps', '--no-audit', '--no-fund']
  expect(execFileSync('npm', line, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })).toContain(
    `added ${names.length} packages`,
  )
})

test.each([
  ['dist/browser/index.js', ['buffer', 'fflate', 'pako']],
  ['dist/page/report.html', ['uplot']],
  ['dist/page/simulation.html', ['uplot']],
  ['dist/page/report-trace.html', ['uplot', 'buffer']],
  ['dist/page/viewer.html', ['uplot', 'buffer', 'fflate', 'pako']],
])('%s has the licences of the packages that are in it', (file, packages) => {
  const text = readFileSync(join(ROOT, file), 'utf8')
  for (const name of packages) {
    expect(text).toContain(`/*! ${name} `)
    expect(text).toContain(readFileSync(join(ROOT, 'node_modules', name, 'LICENSE'), 'utf8').trim())
  }
})
