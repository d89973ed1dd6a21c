// Loads the chunks of the commands: dist/bin/chunks/load.js. Compiling them takes longer than processing a small trace,
// so the build keeps what V8 made of them (scripts/compiled.mjs), for the version of Node that it ran on. The package
// comes without that: there, and for other versions, `require` loads the chunks, and from Node 22.8 on keeps what V8
// made of them in the user's folder for caches.
'use strict'
const { existsSync, mkdirSync, readFileSync, statSync } = require('node:fs')
const { isAbsolute } = require('node:path')
const { setFlagsFromString } = require('node:v8')
const { runInThisContext, Script } = require('node:vm')

/**
 * V8 soon compiles what runs often once more, first without and then with its optimising compiler, in threads of its
 * own. For a small trace that takes longer than the work itself: a fifth of the processor time of a command with large
 * kernels. So it begins later here, in Node 20; much later would make long traces slower. In Node 22, V8 has other
 * thresholds, with which this gains nothing, and complains about flags that it does not know. V8 reads these when it
 * decides. They have to be set before chunks are compiled, because V8 takes what was kept only under the same flags.
 */
const flags = process.versions.v8.startsWith('11.3.')
  ? {
      usual: '--wasm-tiering-budget=6000000 --interrupt-budget=250000',
      /** For a small trace, which is over before that pays. */
      little: '--wasm-tiering-budget=60000000 --interrupt-budget=2000000 --no-sparkplug',
      /** From `little` back to the usual ones, under which chunks are compiled. */
      again: '--wasm-tiering-budget=6000000 --interrupt-budget=250000 --sparkplug',
    }
  : undefined
let expectsLittle = false
if (flags !== undefined) {
  setFlagsFromString(flags.usual)
  // A command calls this when it knows that its input is small: see lib/cli/expect-little.ts.
  globalThis[Symbol.for('heapflow.expectLittle')] = () => {
    expectsLittle = true
    setFlagsFromString(flags.little)
  }
}
// The end of Node waits for the threads that compile, and these may wait for a garbage collection, for which it is too
// late then: the process never ends (https://github.com/nodejs/node/issues/54918). A command calls this when it is
// done. V8 waits here as long, but collects.
globalThis[Symbol.for('heapflow.awaitCompilers')] = () => {
  setFlagsFromString('--allow-natives-syntax')
  try {
    runInThisContext('%FinalizeOptimization()')
  } catch {
    // A V8 without this function.
  }
}

const COMPILED = `${__dirname}/../compiled/${process.versions.v8}-${process.platform}-${process.arch}`
const WRAPPER = ['(function (exports, require, module, __filename, __dirname) { ', '\n})'].map((text) =>
  Buffer.from(text),
)

/** By their files, what chunks export. */
const loaded = new Map()

const hasCompiled = existsSync(COMPILED)
if (!hasCompiled) keepCompiled()

/** Loads a chunk by its name, `./name.js`, once. */
module.exports = hasCompiled ? loadCompiled : require
Object.assign(module.exports, { COMPILED, fileOf, wrapped, compile, run, importPackage: (name) => import(name) })

/**
 * Has Node keep what V8 compiles, if it can and the folder is the user's own: whoever writes there runs code here. So
 * nothing is kept for root with another user's environment, nor where HOME is not set.
 */
function keepCompiled() {
  const { enableCompileCache } = require('node:module')
  const { HOME = '', XDG_CACHE_HOME = '' } = process.env
  const caches = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : `${HOME}/.cache`
  if (enableCompileCache === undefined || process.getuid === undefined || !isAbsolute(caches)) return
  const folder = `${caches}/heapflow`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(folder)
    if (uid === process.getuid() && (mode & 0o022) === 0) enableCompileCache(`${folder}/compiled`)
  } catch {
    // Nothing can be kept there.
  }
}

function loadCompiled(name) {
  const file = fileOf(name)
  if (loaded.has(file)) return loaded.get(file)
  const text = readFileSync(file)
  const kept = compiledOf(name, text)
  const script = kept === undefined ? compile(file, wrapped(text)) : compile(file, kept.text, kept.code)
  const exported = run(script, file, loadCompiled)
  loaded.set(file, exported)
  return exported
}

function fileOf(name) {
  return `${__dirname}/${name.slice('./'.length)}`
}

/** A chunk's text as the function that V8 compiles. */
function wrapped(text) {
  return Buffer.concat([WRAPPER[0], text, WRAPPER[1]])
}

/**
 * What V8 made of a chunk, and the text that it had, unless the chunk has changed since then, or what was kept is
 * damaged. V8 compares only the length of the text, and runs damaged code. So the build keeps the code twice, and then
 * the text (see scripts/compiled.mjs). Comparing the bytes takes about 0.5 ms for the chunks of a command. A checksum
 * would take more than 2 ms, because V8 would interpret its loop at first.
 */
function compiledOf(name, text) {
  let kept
  try {
    kept = readFileSync(`${COMPILED}/${name.slice('./'.length)}.bin`)
  } catch {
    // None was made of this chunk.
    return undefined
  }
  const [before, after] = WRAPPER
  const wrappedLength = before.length + text.length + after.length
  const size = (kept.length - wrappedLength) / 2
  if (!Number.isInteger(size) || size <= 0) return undefined
  // The code is first, because V8 copies what is not aligned.
  const code = kept.subarray(0, size)
  const whole = kept.subarray(2 * size)
  const end = before.length + text.length
  const isWhole =
    code.equals(kept.subarray(size, 2 * size)) &&
    before.equals(whole.subarray(0, before.length)) &&
    text.equals(whole.subarray(before.length, end)) &&
    after.equals(whole.subarray(end))
  return isWhole ? { code, text: whole } : undefined
}

/**
 * Compiles a text, which is ASCII, also if V8 rejects what it compiled before, because it has other options now.
 * @param whole the text as `wrapped` returns it: joining strings would copy it once more
 */
function compile(file, whole, cachedData) {
  if (expectsLittle) setFlagsFromString(flags.again)
  const script = new Script(whole.latin1Slice(), { filename: file, columnOffset: -WRAPPER[0].length, cachedData })
  if (expectsLittle) setFlagsFromString(flags.little)
  return script
}

/** @param load loads the chunks that this one imports */
function run(script, file, load) {
  const module = { exports: {} }
  const requireHere = (name) => (name.startsWith('./') ? load(name) : require(name))
  script.runInThisContext()(module.exports, requireHere, module, file, __dirname)
  return module.exports
}
