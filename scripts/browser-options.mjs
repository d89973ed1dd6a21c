// Options for esbuild that make the pure part of the library run without Node.
import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'node:path'
import { fileURLToPath } from 'node:url'

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** Puts the kernels, as text, in place of the file that reads them from the disk. */
const kernels = {
  name: 'kernels',
  setup({ onLoad }) {
    onLoad({ filter: /\/lib\/kernel\/read-kernel\.ts$/ }, () => {
      const folder = path('dist/kernel')
      const texts = readdirSync(folder).map((file) => [parse(file).name, readFileSync(`${folder}/${file}`, 'base64')])
      return {
        contents: `const kernels = ${JSON.stringify(Object.fromEntries(texts))}
          export const readKernel = (name) => Uint8Array.from(atob(kernels[name]), (byte) => byte.charCodeAt(0))`,
        loader: 'js',
      }
    })
  },
}

/** For `build` of esbuild. */
export const forBrowsers = {
  bundle: true, minify: true, target: 'es2022', platform: 'browser', charset: 'utf8', legalComments: 'none', logLevel: 'warning',
  plugins: [kernels],
  inject: [path('browser/node/buffer.ts')],
  alias: {
    'node:zlib': path('browser/node/zlib.ts'),
    'node:crypto': path('browser/node/crypto.ts'),
    'node:module': path('browser/node/module.ts'),
  },
}
