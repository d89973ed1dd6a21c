// Bundles browser/index.ts into dist/browser/index.js, with the kernels inside and without a need of Node.
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { forBrowsers } from './browser-options.mjs'
import { noticesOf } from './notices.mjs'

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

const { outputFiles, metafile } = await build({
  ...forBrowsers,
  entryPoints: [path('browser/index.ts')],
  format: 'esm',
  write: false,
  metafile: true,
})
mkdirSync(path('dist/browser'), { recursive: true })
writeFileSync(path('dist/browser/index.js'), noticesOf(metafile) + outputFiles[0].text)
