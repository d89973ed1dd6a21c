import { readFileSync } from 'node:fs'
import { CHECKED } from './checked.js'

/**
 * A kernel's WebAssembly. For browsers and for bundlers, `scripts/browser.mjs` and `scripts/embedded.mjs` put modules
 * that contain the kernels in the place of this one.
 */
export function readKernel(name: string): Uint8Array<ArrayBuffer> {
  // The package has dist/kernel beside dist/lib. Tests run from lib, where only the sources are beside it.
  const kernels = CHECKED ? 'kernel-checked' : 'kernel'
  for (const folder of [`../../${kernels}`, `../../dist/${kernels}`]) {
    try {
      return new Uint8Array(readFileSync(new URL(`${folder}/${name}.wasm`, import.meta.url)))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new Error(`${kernels}/${name}.wasm is missing: has the project been built?`)
}
