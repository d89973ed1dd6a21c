import { readFileSync } from 'node:fs'

/** A page that the build makes. For bundlers, `scripts/embedded.mjs` puts a module in the place of this one. */
export function readPage(name: 'report' | 'report-trace' | 'simulation' | 'viewer'): string {
  // Tests run from lib; the package has dist/page beside dist/lib.
  for (const folder of ['../../dist/page', '../../page']) {
    try {
      return readFileSync(new URL(`${folder}/${name}.html`, import.meta.url), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new Error(`page/${name}.html is missing: has the project been built?`)
}
