// @module-tag slow
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const directory = new URL('../examples/', import.meta.url)
const names = readdirSync(directory).filter((name) => /\.(sh|mjs)$/.test(name))

/**
 * Runs an example and gives its standard output; fails, with what it said on standard error, unless it exits with 0.
 */
function run(name: string): Promise<string> {
  const path = fileURLToPath(new URL(name, directory))
  const program = name.endsWith('.sh') ? 'bash' : process.execPath
  return new Promise((resolve, reject) => {
    execFile(program, [path], { maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      if (error !== null) reject(new Error(`${error.message}\n${stderr}`))
      else resolve(stdout)
    })
  })
}

describe('examples', () => {
  test('there are some, and the package is built', () => {
    expect(names).not.toEqual([])
    expect(existsSync(new URL('../dist/lib/entry/index.js', import.meta.url)), 'run `npm run build` first').toBe(true)
  })

  test('every expected output belongs to an example', () => {
    const outputs = readdirSync(directory).filter((name) => name.endsWith('.out'))
    expect(outputs.map((name) => name.slice(0, -'.out'.length)).toSorted()).toEqual(
      names.map((name) => name.replace(/\.\w+$/, '')).toSorted(),
    )
  })

  test.each(names)('%s prints what it should', async (name) => {
    const expected = readFileSync(new URL(name.replace(/\.\w+$/, '.out'), directory), 'utf8')
    expect(await run(name)).toBe(expected)
  })
})
