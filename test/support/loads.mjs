// Preloaded with --import: tells in the file that LOADS names which modules a process loads, a line for each: the URLs of those that are
// imported, the files of those that are required.
import { appendFileSync } from 'node:fs'
import * as modules from 'node:module'

const file = process.env.LOADS

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
  const required = Object.keys(cache)
  const loader = required.find((path) => path.endsWith('/dist/bin/chunks/load.js'))
  if (loader !== undefined) required.push(...cache[loader].exports.loaded.keys())
  appendFileSync(file, required.map((path) => `${path}\n`).join(''))
})
