// Makes the package work in bundles for Node, in dist/embedded: kernels and pages as modules that contain them, because
// a bundle has no files beside it; and the packages that are CommonJS, or use such, as ES modules, because `require` of
// Node's own modules fails in an ES module that esbuild makes. The modules of dist/lib import all of them by the names
// in `imports` of package.json. Node takes the files and packages; bundlers, which set the condition `module`, take
// these.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deflateRawSync } from 'node:zlib'
import { build } from 'esbuild'
import { noticesOf } from './notices.mjs'

const dist = new URL('../dist/', import.meta.url)
const embedded = new URL('embedded/', dist)

const FILES = [
  { folder: 'kernel', reader: 'readKernel', module: 'read-kernel', result: 'new Uint8Array(bytes)' },
  { folder: 'page', reader: 'readPage', module: 'read-page', result: 'bytes.toString()' },
]
/** The pages that only commands write. */
const OF_COMMANDS = ['simulation.html']
const PACKAGES = {
  through2: "export { transform } from 'through2'",
  pumpify: "export { default } from 'pumpify'",
  split2: "export { default } from 'split2'",
}
/** The modules of Node that the packages require. */
const BUILT_IN = ['buffer', 'events', 'fs', 'stream', 'string_decoder', 'util']
const BUILTINS = 'built-in-modules'
/** The modules that import these, and what they import. */
const IMPORTERS = [
  ['lib/kernel/load.js', './read-kernel.js', '#read-kernel'],
  ['lib/streams/report.js', './read-page.js', '#read-page'],
  ['lib/streams/stage.js', 'through2', '#through2'],
  ['lib/streams/generator.js', 'through2', '#through2'],
  ['lib/streams/compose.js', 'pumpify', '#pumpify'],
  ['lib/streams/symbols/address-tool.js', 'split2', '#split2'],
]

rmSync(embedded, { recursive: true, force: true })
mkdirSync(embedded, { recursive: true })
for (const { folder, reader, module, result } of FILES) {
  const names = readdirSync(new URL(`${folder}/`, dist)).filter((name) => !OF_COMMANDS.includes(name))
  const contents = names.map((name) => {
    const content = deflateRawSync(readFileSync(new URL(`${folder}/${name}`, dist)), { level: 9 })
    return [parse(name).name, content.toString('base64')]
  })
  writeFileSync(
    new URL(`${module}.js`, embedded),
    `import { inflateRawSync } from 'node:zlib'
const FILES = ${JSON.stringify(Object.fromEntries(contents))}
export function ${reader}(name) {
  const bytes = inflateRawSync(Buffer.from(FILES[name], 'base64'))
  return ${result}
}
`,
  )
}

const { outputFiles, metafile } = await build({
  entryPoints: Object.keys(PACKAGES).map((name) => ({ in: name, out: name })),
  outdir: fileURLToPath(embedded),
  plugins: [{ name: 'packages', setup: entries }],
  inject: [BUILTINS],
  // The streams of all packages are the same ones.
  splitting: true,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'es2022',
  legalComments: 'none',
  write: false,
  metafile: true,
})
const notices = noticesOf(metafile)
for (const { path, text } of outputFiles) {
  const missing = /\b__require\("([^"]*)"\)/.exec(text)
  if (missing !== null) throw new Error(`${basename(path)} requires ${missing[1]}, which is not in BUILT_IN`)
  writeFileSync(new URL(basename(path), embedded), notices + text)
}

/** What each entry is, a module that exports what the library imports of the package; and Node's own modules. */
function entries({ onResolve, onLoad }) {
  const resolveDir = fileURLToPath(new URL('../', dist))
  onResolve({ filter: oneOf(Object.keys(PACKAGES)) }, ({ path, kind }) =>
    kind === 'entry-point' ? { path, namespace: 'entry' } : undefined,
  )
  onLoad({ filter: /./, namespace: 'entry' }, ({ path }) => ({ contents: PACKAGES[path], resolveDir }))
  // What is required is CommonJS, which imports nothing: it uses a name that another module gives every file.
  onResolve({ filter: oneOf(BUILT_IN) }, ({ path, kind }) =>
    kind === 'require-call' ? { path, namespace: 'built-in' } : undefined,
  )
  onLoad({ filter: /./, namespace: 'built-in' }, ({ path }) => ({ contents: `module.exports = node_${path}` }))
  onResolve({ filter: oneOf([BUILTINS]) }, ({ path }) => ({ path, namespace: 'built-ins' }))
  onLoad({ filter: /./, namespace: 'built-ins' }, () => ({
    contents: BUILT_IN.map((name) => `export { default as node_${name} } from 'node:${name}'`).join('\n'),
    resolveDir,
  }))
}

function oneOf(names) {
  return new RegExp(`^(${names.join('|')})$`)
}

for (const [importer, from, to] of IMPORTERS) {
  const file = new URL(importer, dist)
  const text = readFileSync(file, 'utf8')
  const changed = text.replace(`from '${from}'`, `from '${to}'`)
  if (!changed.includes(`from '${to}'`)) throw new Error(`${importer} imports nothing from ${from}`)
  if (changed !== text) writeFileSync(file, changed)
}
