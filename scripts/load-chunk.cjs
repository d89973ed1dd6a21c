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
Object.assign(module.exports, { COMPILED, loaded, fileOf, compile, run, importPackage: (name) => import(name) })

function loadCompiled(name) {
  const file = fileOf(name)
  if (loaded.has(file)) return loaded.get(file)
  let compiled
  try {
    compiled = readFileSync(`${COMPILED}/${name.slice('./'.length)}.bin`)
  } catch {
    // None was made of this chunk.
  }
  const exported = run(compile(file, compiled), file, loadCompiled)
  loaded.set(file, exported)
  return exported
}

function fileOf(name) {
  return `${__dirname}/${name.slice('./'.length)}`
}

/** If V8 rejects what it compiled before, because it has other options now, it compiles the text. */
function compile(file, cachedData) {
  return new Script(WRAPPER.join(readFileSync(file, 'latin1')), {
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
