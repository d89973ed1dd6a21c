import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** In `new URL(..., import.meta.url)`, webpack would look for the file. */
const HERE = import.meta.url

/** The path of a file or folder of the package, if it exists. */
export function ownFile(name: string): string | undefined {
  // The package has dist/lib and dist/bin; tests run from lib.
  return ['../../../', '../../'].map((up) => fileURLToPath(new URL(up + name, HERE))).find((path) => existsSync(path))
}
