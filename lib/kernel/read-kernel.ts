import { readFileSync } from 'node:fs'

/** A kernel's WebAssembly. For browsers, the bundler replaces this file by one that contains the kernels. */
export function readKernel(name: string): Uint8Array<ArrayBuffer> {
  // The package has dist/kernel beside dist/lib. Tests run from lib, where only the sources are beside it.
  for (const folder of ['../../kernel', '../../dist/kernel']) {
    try {
      return new Uint8Array(readFileSync(new URL(`${folder}/${name}.wasm`, import.meta.url)))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new Error(`kernel/${name}.wasm is missing: has the project been built?`)
}
