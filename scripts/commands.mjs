// Bundles the commands into dist/bin. Loading modules one by one takes longer than processing a small trace, and so
// does starting Node's loader of ES modules. So these are CommonJS: a short file for each command, and in chunks/ what
// commands share. As in lib/, a format, or what a command does, is loaded when it is used.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { checkChunk } from './check-chunk.mjs'

const root = fileURLToPath(new URL('../', import.meta.url))
const target = join(root, 'dist/bin')

/** What a command is, without what it does. `--help` loads nothing else. */
const isData = (path) => /^lib\/cli\/(main|heapflow|command-list|commands\/[a-z-]+)\.ts$/.test(path)

/**
 * Groups of modules that become one file each, with what they import: what every command loads, also for its help; and
 * what almost every run loads. HATF is recognized last, by its decoder.
 */
const GROUPS = {
  data: ['main', 'convert-options', 'defaults', 'flags'].map((name) => `lib/cli/${name}.ts`),
  run: [
    'lib/cli/commands/format.run.ts',
    'lib/cli/named-input.ts',
    ...['event', 'kernel', 'bytes', 'blocks'].flatMap((folder) => sources(`lib/${folder}`)),
    ...['text/ascii', 'text/byte-order-mark', 'codec/cursor', 'codec/cursor-decoder'].map((name) => `lib/${name}.ts`),
    'lib/formats/ndjson/general.ts',
    ...sources('lib/formats').filter((path) => /\/(sniff|detect)\.ts$/.test(path) && !path.includes('/hatf/')),
  ],
}

function sources(folder) {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.ts')).map((name) => posix.join(folder, name.replaceAll('\\', '/')))
}

const options = {
  absWorkingDir: root,
  entryPoints: sources('bin'),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  outdir: target,
  chunkNames: 'chunks/[name]-[hash]',
  write: false,
  metafile: true,
  // package.json says that no module has side effects, by which esbuild would leave out imports without names.
  ignoreAnnotations: true,
  // Without line breaks in strings, only statements begin with `import` or `export`: see `commonJs`.
  supported: { 'template-literal': false },
  external: ['@duckdb/node-api', 'fflate', 'pumpify', 'split2', 'zlib-sync'],
  // through2 is bundled, with Node's own streams in place of a package of them.
  alias: { 'readable-stream': 'node:stream' },
}

/** The modules that are imported when they are needed. esbuild makes an entry of each. */
const {
  metafile: { inputs },
} = await build(options)
const lazy = new Set(
  Object.values(inputs).flatMap(({ imports }) =>
    imports.filter(({ kind, external }) => kind === 'dynamic-import' && !external).map(({ path }) => path),
  ),
)

/**
 * Has each of them import the groups. esbuild puts together what the same entries reach, so a group then becomes one
 * chunk instead of dozens.
 */
const grouping = {
  name: 'grouping',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^group:/ }, ({ path }) => ({ path: path.slice('group:'.length), namespace: 'group' }))
    onLoad({ filter: /./, namespace: 'group' }, ({ path }) => ({
      contents: GROUPS[path].map((name) => `import './${name}'`).join('\n'),
      resolveDir: root,
    }))
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const name = posix.relative(root.replaceAll('\\', '/'), path.replaceAll('\\', '/'))
      const groups = !lazy.has(name) ? [] : isData(name) ? ['data'] : ['data', 'run']
      return {
        contents: [...groups.map((group) => `import 'group:${group}'`), readFileSync(path, 'utf8')].join('\n'),
        loader: 'ts',
      }
    })
  },
}

const { outputFiles, metafile } = await build({ ...options, plugins: [grouping] })
const texts = new Map(outputFiles.map(({ path, text }) => [posix.relative(root, path), text]))
const { outputs } = metafile

/** One list of names in an import or export, `a as b, c`, as `[a, b]` and `[c, c]`. */
const pairs = (list) =>
  list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map((item) => {
      const [from, to = from] = item.split(' as ')
      return [from, to]
    })
const properties = (list) => list.map(([key, value]) => (key === value ? key : `${key}: ${value}`)).join(', ')

/** Functions of a module of Node that takes long to load, which is loaded when one of them is called. */
function calledLater(names, from) {
  // Constants are no functions.
  if (names.some(([name]) => name === 'constants')) return undefined
  return names.map(([name, here]) => `const ${here} = (...args) => require(${from}).${name}(...args);`).join(' ')
}

/** All of such a module, likewise. */
function lookedUpLater(name, from) {
  return `const ${name} = new Proxy({}, { get: (_, key) => require(${from})[key] });`
}

/** Turns the module syntax that esbuild writes into CommonJS. Chunks do not import one another in circles. */
function commonJs(path, text, exported = 'module.exports =') {
  const code = text
    .replace(/^import \* as ([\w$]+) from ("node:zlib");$/gm, (_, name, from) => lookedUpLater(name, from))
    .replace(/^import (?:\* as )?([\w$]+) from ("[^"]+");$/gm, 'const $1 = require($2);')
    .replace(
      /^import \{([^}]*)\} from ("node:(?:crypto|module|zlib)");$/gm,
      (all, names, from) => calledLater(pairs(names), from) ?? all,
    )
    .replace(
      /^import \{([^}]*)\} from ("[^"]+");$/gm,
      (_, names, from) => `const { ${properties(pairs(names))} } = require(${from});`,
    )
    .replace(/^import ("[^"]+");$/gm, 'require($1);')
    .replace(
      /^export \{([^}]*)\};$/gm,
      (_, names) => `${exported} { ${properties(pairs(names).map(([from, to]) => [to, from]))} };`,
    )
    .replace(
      /\bimport\("(\.[^"]+)"\)/g,
      (_, from) => `Promise.resolve().then(() => ${loading(posix.join(dirname(path), from), path)})`,
    )
    // What node:vm runs cannot import.
    .replace(/\bimport\(("[^"]+")\)/g, 'require("../chunks/load.js").importPackage($1)')
    // A module of the user: see lib/cli/format-module.ts.
    .replaceAll('import(pathToFileURL(', 'require("../chunks/load.js").importPackage(pathToFileURL(')
    .replaceAll('import.meta.url', 'require("node:url").pathToFileURL(__filename).href')
  checkChunk(path, code)
  return code
}

/** Has a command load its chunks by scripts/load-chunk.cjs, as these then load others. */
function loadingChunks(code) {
  return code.replaceAll(/\brequire\("\.\/chunks\//g, 'require("./chunks/load.js")("./')
}

/** What loads a chunk. One that only renames what other chunks have is written out, which saves loading a file. */
function loading(path, from) {
  const local = (other) => posix.join('.', posix.relative(dirname(from), other)).replace(/^(?!\.)/, './')
  if (!isRenaming(path)) return `require("${local(path)}")`
  // Both are in the same folder, or `from` is a command in the one above.
  const text = texts
    .get(path)
    .replace(/from "(\.[^"]+)"/g, (_, name) => `from "${local(posix.join(dirname(path), name))}"`)
    .replace(/^import "(\.[^"]+)"/gm, (_, name) => `import "${local(posix.join(dirname(path), name))}"`)
  return `{\n${commonJs(from, text, 'return')}}`
}

function isRenaming(path) {
  const { entryPoint, inputs } = outputs[path]
  return (
    entryPoint !== undefined &&
    !entryPoint.startsWith('bin/') &&
    Object.values(inputs).every(({ bytesInOutput }) => bytesInOutput === 0)
  )
}

for (const [path, { imports }] of Object.entries(outputs)) checkOrder(path, imports, [])

/** @throws Error when a chunk needs itself to be loaded */
function checkOrder(path, imports, before) {
  if (before.includes(path)) throw new Error(`chunks import one another: ${[...before, path].join(', ')}`)
  for (const { path: next, kind } of imports)
    if (kind === 'import-statement' && outputs[next] !== undefined)
      checkOrder(next, outputs[next].imports, [...before, path])
}

rmSync(target, { recursive: true, force: true })
mkdirSync(join(target, 'chunks'), { recursive: true })
for (const [path, text] of texts)
  if (!isRenaming(path)) writeFileSync(join(root, path), loadingChunks(commonJs(path, text)))
copyFileSync(join(root, 'scripts/load-chunk.cjs'), join(target, 'chunks/load.js'))
writeFileSync(join(target, 'package.json'), '{ "type": "commonjs" }\n')
for (const name of bundledPackages())
  copyFileSync(join(root, 'node_modules', name, 'LICENSE.md'), join(target, `chunks/LICENSE-${name}.md`))

/** The packages of others that are in a chunk. */
function bundledPackages() {
  const names = Object.keys(metafile.inputs).map((path) => /^node_modules\/([^/]+)\//.exec(path)?.[1])
  return new Set(names.filter((name) => name !== undefined))
}
