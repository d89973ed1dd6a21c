// Compiles each kernel of kernel/*.ts to WebAssembly, in kernel/ of the folder given (dist). Those that are newer than all sources stay.
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('../kernel', import.meta.url))
const target = join(process.argv[2] ?? 'dist', 'kernel')
const kernels = readdirSync(source).filter((name) => name.endsWith('.ts')).map((name) => parse(name).name)
const changed = Math.max(...readdirSync(source, { recursive: true, withFileTypes: true }).map(({ parentPath, name }) => statSync(join(parentPath, name)).mtimeMs))
const stale = kernels.filter((kernel) => !(statSync(join(target, `${kernel}.wasm`), { throwIfNoEntry: false })?.mtimeMs > changed))

if (stale.length > 0) {
  mkdirSync(target, { recursive: true })
  // Loading the compiler takes longer than compiling.
  const { default: asc } = await import('assemblyscript/asc')
  for (const kernel of stale) {
    const out = join(target, `${kernel}.wasm`)
    const { error, stderr } = await asc.main([
      join(source, `${kernel}.ts`), '--outFile', out, '--optimizeLevel', '3', '--shrinkLevel', '0', '--runtime', 'stub', '--noAssert', '--enable', 'simd',
    ])
    if (error) {
      console.error(stderr.toString(), error.message)
      process.exit(1)
    }
  }
}
