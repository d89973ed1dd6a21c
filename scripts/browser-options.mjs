// Options for esbuild that make the pure part of the library run without Node.
import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'node:path'
import { fileURLToPath } from 'node:url'

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** Puts kernels, as text, in place of the file that reads them from the disk. @param only their names; all if absent */
const kernels = (only) => ({
  name: 'kernels',
  setup({ onLoad }) {
    onLoad({ filter: /\/lib\/kernel\/read-kernel\.ts$/ }, () => {
      const folder = path('dist/kernel')
      const files = readdirSync(folder).filter((file) => only?.includes(parse(file).name) ?? true)
      const texts = files.map((file) => [parse(file).name, readFileSync(`${folder}/${file}`, 'base64')])
      return {
        contents: `const kernels = ${JSON.stringify(Object.fromEntries(texts))}
          export const readKernel = (name) => Uint8Array.from(atob(kernels[name]), (byte) => byte.charCodeAt(0))`,
        loader: 'js',
      }
    })
  },
})

/** For `build` of esbuild. @param only the names of the kernels that are needed; all if absent */
export const withKernels = (only) => ({
  bundle: true,
  minify: true,
  target: 'es2022',
  platform: 'browser',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [kernels(only)],
  inject: [path('browser/node/buffer.ts')],
  alias: {
    'node:zlib': path('browser/node/zlib.ts'),
    'node:crypto': path('browser/node/crypto.ts'),
    'node:util': path('browser/node/util.ts'),
  },
})

export const forBrowsers = withKernels()
