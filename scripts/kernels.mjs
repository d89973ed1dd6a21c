// Compiles each kernel of kernel/*.ts to WebAssembly, in kernel/ of the folder given (dist); with --checked, to checked
// kernels in kernel-checked/. Those that are newer than all of their sources and the compiling scripts stay.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compileKernel, SOURCES } from './compile-kernel.mjs'

const { values, positionals } = parseArgs({ options: { checked: { type: 'boolean' } }, allowPositionals: true })
const target = join(positionals[0] ?? 'dist', values.checked ? 'kernel-checked' : 'kernel')
const scripts = [
  'kernels.mjs',
  'compile-kernel.mjs',
  ...(values.checked ? ['checked-kernels.mjs', '../kernel/shared/rooms.ts'] : []),
]
const kernels = readdirSync(SOURCES)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => parse(name).name)
const stale = kernels.filter((kernel) => {
  const files = [
    ...scripts.map((name) => fileURLToPath(new URL(name, import.meta.url))),
    ...sourcesOf(join(SOURCES, `${kernel}.ts`)),
  ]
  const changed = Math.max(...files.map((file) => statSync(file).mtimeMs))
  return !(statSync(join(target, `${kernel}.wasm`), { throwIfNoEntry: false })?.mtimeMs > changed)
})

/** A module, and all modules that it imports or exports from, directly or not. */
function sourcesOf(file, found = new Set()) {
  if (found.has(file)) return []
  found.add(file)
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/\bfrom '(\.[^']+)'/g))
    sourcesOf(join(dirname(file), `${path}.ts`), found)
  return [...found]
}

mkdirSync(target, { recursive: true })
for (const kernel of stale) writeFileSync(join(target, `${kernel}.wasm`), await compileKernel(kernel, values.checked))
