// Loads the chunks of the commands: dist/bin/chunks/load.js. Compiling them takes longer than processing a small trace,
// so the build keeps what V8 made of them (scripts/compiled.mjs), for the version of Node that it ran on. Other
// versions compile the chunks when they are loaded, as `require` does.
'use strict'
const { existsSync, readFileSync } = require('node:fs')
const { Script } = require('node:vm')

const COMPILED = `${__dirname}/../compiled/${process.versions.v8}-${process.platform}-${process.arch}`
const WRAPPER = ['(function (exports, require, module, __filename, __dirname) { ', '\n})']

/** By their files, what chunks export. */
const loaded = new Map()

/** Loads a chunk by its name, `./name.js`, once. */
module.exports = existsSync(COMPILED) ? loadCompiled : require
Object.assign(module.exports, { COMPILED, fileOf, compile, run, importPackage: (name) => import(name) })

function loadCompiled(name) {
  const file = fileOf(name)
  if (loaded.has(file)) return loaded.get(file)
  const text = readFileSync(file)
  const exported = run(compile(file, text, compiledOf(name, text)), file, loadCompiled)
  loaded.set(file, exported)
  return exported
}

function fileOf(name) {
  return `${__dirname}/${name.slice('./'.length)}`
}

/**
 * What V8 made of a chunk, unless the chunk has changed since then, or what was kept is damaged. V8 compares only the
 * length of the text, and runs damaged code. So the build keeps the code twice, and then the text (see
 * scripts/compiled.mjs). Comparing the bytes takes about 0.5 ms for the chunks of a command. A checksum would take more
 * than 2 ms, because V8 would interpret its loop at first.
 */
function compiledOf(name, text) {
  let kept
  try {
    kept = readFileSync(`${COMPILED}/${name.slice('./'.length)}.bin`)
  } catch {
    // None was made of this chunk.
    return undefined
  }
  const size = (kept.length - text.length) / 2
  if (!Number.isInteger(size) || size <= 0) return undefined
  // The code is first, because V8 copies what is not aligned.
  const code = kept.subarray(0, size)
  const isWhole = code.equals(kept.subarray(size, 2 * size)) && text.equals(kept.subarray(2 * size))
  return isWhole ? code : undefined
}

/** Compiles a text, which is ASCII, also if V8 rejects what it compiled before, because it has other options now. */
function compile(file, text, cachedData) {
  return new Script(WRAPPER.join(text.latin1Slice()), {
    filename: file,
    columnOffset: -WRAPPER[0].length,
    cachedData,
  })
}

/** @param load loads the chunks that this one imports */
function run(script, file, load) {
  const module = { exports: {} }
  const requireHere = (name) => (name.startsWith('./') ? load(name) : require(name))
  script.runInThisContext()(module.exports, requireHere, module, file, __dirname)
  return module.exports
}
