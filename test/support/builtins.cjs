// Preloaded with --require: writes to the file that LOADED names which of Node's modules a process loads, and of each
// chunk whether V8 took what was compiled during the build.
'use strict'
const { writeFileSync } = require('node:fs')
const vm = require('node:vm')

const chunks = {}
vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, options)
    chunks[options.filename] = this.cachedDataRejected === false
  }
}

process.on('exit', () => {
  const builtins = process.moduleLoadList
    .filter((name) => name.startsWith('NativeModule '))
    .map((name) => name.slice('NativeModule '.length))
  writeFileSync(process.env.LOADED, JSON.stringify({ chunks, builtins }))
})
