// Compiles each kernel of kernel/*.ts to WebAssembly, in kernel/ of the folder given (dist). Those that are newer than
// all of their sources and this file stay.
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('../kernel', import.meta.url))
const target = join(process.argv[2] ?? 'dist', 'kernel')
const kernels = readdirSync(source)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => parse(name).name)
const stale = kernels.filter((kernel) => {
  const files = [fileURLToPath(import.meta.url), ...sourcesOf(join(source, `${kernel}.ts`))]
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

if (stale.length > 0) {
  mkdirSync(target, { recursive: true })
  // Loading the compiler takes longer than compiling.
  const { default: asc } = await import('assemblyscript/asc')
  for (const kernel of stale) {
    const out = join(target, `${kernel}.wasm`)
    const { error, stderr } = await asc.main([
      join(source, `${kernel}.ts`),
      '--outFile',
      out,
      '--optimizeLevel',
      '3',
      '--shrinkLevel',
      '0',
      '--runtime',
      'stub',
      '--noAssert',
      '--importMemory',
      '--zeroFilledMemory',
      '--enable',
      'simd',
    ])
    if (error) {
      console.error(stderr.toString(), error.message)
      process.exit(1)
    }
  }
}
