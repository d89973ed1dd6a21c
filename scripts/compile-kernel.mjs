// Compiles a kernel.
import { readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the kernels' sources. */
export const SOURCES = fileURLToPath(new URL('../kernel', import.meta.url))

/**
 * Compiles kernel/<name>.ts. Changed sources are given by `edit`: it gets the path of a module in that folder and its
 * text, or null if there is no such file.
 * @returns its WebAssembly
 */
export async function compileKernel(name, isChecked, edit = (path, text) => text) {
  // Loading the compiler takes longer than compiling.
  const { default: asc } = await import('assemblyscript/asc')
  const { checkedSource } = isChecked ? await import('./checked-kernels.mjs') : {}
  const readFile = (file, folder) => {
    const path = relative(SOURCES, resolve(folder, file))
    const isFile = statSync(join(SOURCES, path), { throwIfNoEntry: false })?.isFile()
    const text = edit(path, isFile ? readFileSync(join(SOURCES, path), 'utf8') : null)
    // What kernels share with wrappers is numbers, which are unsigned here unless they are negative.
    if (path.startsWith('..')) return text?.replace(/^(export const \w+) = (?!-)/gm, '$1: u32 = ') ?? null
    return text !== null && checkedSource ? checkedSource(text, path, path === `${name}.ts`) : text
  }
  let bytes
  const writeFile = (_, content) => {
    bytes = content
  }
  const { error, stderr } = await asc.main(
    [
      join(SOURCES, `${name}.ts`),
      '--outFile',
      `${name}.wasm`,
      '--optimizeLevel',
      '3',
      '--shrinkLevel',
      '0',
      '--runtime',
      'stub',
      isChecked ? '--debug' : '--noAssert',
      '--importMemory',
      '--zeroFilledMemory',
      '--enable',
      'simd',
    ],
    { readFile, writeFile },
  )
  if (error) throw new Error(`kernel ${name}: ${stderr.toString()}`, { cause: error })
  return bytes
}
