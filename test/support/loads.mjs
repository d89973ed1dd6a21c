// Preloaded with --import: writes to the file that LOADS names which modules a process loads, a line for each: the URLs
// of those that are imported, the files of those that are required, and of the chunks that scripts/load-chunk.cjs runs.
import { appendFileSync } from 'node:fs'
import * as modules from 'node:module'
import vm from 'node:vm'

const file = process.env.LOADS

const chunks = []
vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, options)
    chunks.push(options.filename)
  }
}

if ('registerHooks' in modules) {
  modules.registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      appendFileSync(file, `${found.url}\n`)
      return found
    },
  })
} else {
  // Before Node 22.15 hooks run in a thread of their own.
  modules.register(
    `data:text/javascript,${encodeURIComponent(`
    import { appendFileSync } from 'node:fs'
    export async function resolve(specifier, context, next) {
      const found = await next(specifier, context)
      appendFileSync(${JSON.stringify(file)}, found.url + '\\n')
      return found
    }
  `)}`,
  )
}

process.on('exit', () => {
  const { cache } = modules.createRequire(import.meta.url)
  appendFileSync(file, [...Object.keys(cache), ...chunks].map((path) => `${path}\n`).join(''))
})
