// Compiles each kernel of kernel/*.ts to WebAssembly, in kernel/ of the folder given (dist); with --checked, to checked
// kernels in kernel-checked/. Those that are newer than all of their sources and the compiling scripts stay.
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, parse, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const source = fileURLToPath(new URL('../kernel', import.meta.url))
const { values, positionals } = parseArgs({ options: { checked: { type: 'boolean' } }, allowPositionals: true })
const target = join(positionals[0] ?? 'dist', values.checked ? 'kernel-checked' : 'kernel')
const scripts = ['kernels.mjs', ...(values.checked ? ['checked-kernels.mjs', '../kernel/shared/rooms.ts'] : [])]
const kernels = readdirSync(source)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => parse(name).name)
const stale = kernels.filter((kernel) => {
  const files = [
    ...scripts.map((name) => fileURLToPath(new URL(name, import.meta.url))),
    ...sourcesOf(join(source, `${kernel}.ts`)),
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

const { checkedSource } = values.checked ? await import('./checked-kernels.mjs') : {}

/** The checked source of a module; null if there is none of this name. */
function readChecked(file, kernel) {
  if (!statSync(file, { throwIfNoEntry: false })) return null
  return checkedSource(source, relative(source, file), file === join(source, `${kernel}.ts`))
}

if (stale.length > 0) {
  mkdirSync(target, { recursive: true })
  // Loading the compiler takes longer than compiling.
  const { default: asc } = await import('assemblyscript/asc')
  for (const kernel of stale) {
    const out = join(target, `${kernel}.wasm`)
    const { error, stderr } = await asc.main(
      [
        join(source, `${kernel}.ts`),
        '--outFile',
        out,
        '--optimizeLevel',
        '3',
        '--shrinkLevel',
        '0',
        '--runtime',
        'stub',
        values.checked ? '--debug' : '--noAssert',
        '--importMemory',
        '--zeroFilledMemory',
        '--enable',
        'simd',
      ],
      checkedSource && { readFile: (name, folder) => readChecked(resolve(folder, name), kernel) },
    )
    if (error) {
      console.error(stderr.toString(), error.message)
      process.exit(1)
    }
  }
}
