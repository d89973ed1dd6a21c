import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

const { bin, exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as Manifest

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

test('the package has nothing that only developers need', () => {
  const surplus = packed.filter(
    (path) =>
      /^(bench|kernel|scripts|test|bin|dist\/test|dist\/bin\/compiled)\//.test(path) ||
      /^dist\/bin\/.*\.d\.ts$/.test(path),
  )
  expect(surplus).toEqual([])
  expect(packed.filter((path) => /architecture|size-study|CONTRIBUTING/.test(path))).toEqual([])
})
