import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** The layers from the lowest to the highest, each with the folders and files that the table names. */
const LAYERS: readonly (readonly string[])[] = read('docs/architecture.md')
  .split('## Layers')[1]!
  .split('\n## ')[0]!
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, path]) => path!.replace(/<.*/, '')))

const FILES = ['lib', 'bin', 'kernel', 'page', 'browser'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
)

/** The source of an imported path: those of kernels have no ending. */
function sourceOf(path: string): string {
  return /\.\w+$/.test(path) ? path.replace(/\.js$/, '.ts') : `${path}.ts`
}

/** Of each file, the files of the project that a pattern finds in it. */
function importsBy(pattern: RegExp): ReadonlyMap<string, readonly string[]> {
  return new Map(
    FILES.map((file) => {
      const found = [...read(file).matchAll(pattern)]
      return [file, found.map(([, path]) => sourceOf(relative('.', join(dirname(file), path!))))]
    }),
  )
}

/** What is imported, as types, too, and when it is needed. */
const IMPORTS = importsBy(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g)

/** The same without what is imported when it is needed: a command imports what it does, which may need all commands. */
const LOADED = importsBy(/(?:\bfrom|\bimport)\s+'(\.[^']+)'/g)

/** The layer of a file: of the folders that the table names, the longest that has it. */
function layerOf(file: string): number {
  let best = { layer: -1, length: 0 }
  LAYERS.forEach((paths, layer) => {
    for (const path of paths) {
      if ((file === path || (path.endsWith('/') && file.startsWith(path))) && path.length > best.length)
        best = { layer, length: path.length }
    }
  })
  return best.layer
}

describe('the layers of docs/architecture.md', () => {
  test('have every file', () => {
    expect(LAYERS.length).toBeGreaterThan(10)
    expect(FILES.length).toBeGreaterThan(250)
    expect(FILES.filter((file) => layerOf(file) < 0)).toEqual([])
  })

  test('are imported downwards only', () => {
    const upwards = [...IMPORTS].flatMap(([file, imports]) =>
      imports.filter((path) => layerOf(path) > layerOf(file)).map((path) => `${file} imports ${path}`),
    )
    expect(upwards).toEqual([])
  })

  test('every import is of a file', () => {
    const files = new Set(FILES)
    const missing = [...IMPORTS].flatMap(([file, imports]) =>
      imports.filter((path) => !files.has(path) && !path.endsWith('package.json')).map((path) => `${file}: ${path}`),
    )
    expect(missing).toEqual([])
  })

  test('there are no circles', () => {
    expect(circles()).toEqual([])
  })
})

/** Files that import one another: the groups that are strongly connected, by Tarjan's algorithm. */
function circles(): string[][] {
  const found: string[][] = []
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const visit = (file: string): void => {
    order.set(file, order.size)
    low.set(file, order.get(file)!)
    stack.push(file)
    for (const next of LOADED.get(file) ?? []) {
      if (!order.has(next)) visit(next)
      if (stack.includes(next)) low.set(file, Math.min(low.get(file)!, low.get(next)!))
    }
    if (low.get(file) !== order.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1) found.push(group.toSorted())
  }
  for (const file of FILES) if (!order.has(file)) visit(file)
  return found
}
