// Bundles browser/index.ts into dist/browser/index.js, with the kernels inside and without a need of Node.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { forBrowsers } from './browser-options.mjs'

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

await build({
  ...forBrowsers,
  entryPoints: [path('browser/index.ts')],
  outfile: path('dist/browser/index.js'),
  format: 'esm',
})
