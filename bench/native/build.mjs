// Compiles the native yardsticks. Without a C compiler, their ratios are omitted.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const FLAGS = ['-std=gnu11', '-O3', '-march=native', '-flto=auto', '-Wall', '-Wextra']
/** The whole program, which has its own `main`. */
const CONVERTER = 'convert.c'

/**
 * @typedef {object} Native
 * @property {string} yardstick the program that runs one loop over one file
 * @property {string} converter the whole program from MTRC to HATF
 */

/**
 * Compiles into a folder, unless it has been done already.
 * @param {string} folder
 * @returns {Native | undefined} nothing without a C compiler
 * @throws Error when the compiler fails
 */
export function buildNative(folder) {
  const native = { yardstick: join(folder, 'yardstick'), converter: join(folder, 'convert') }
  if (existsSync(native.yardstick) && existsSync(native.converter)) return native
  if (!hasCompiler()) return undefined
  const sources = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.c'))
  const compile = (target, without) => {
    const files = sources.filter((name) => name !== without).map((name) => join(import.meta.dirname, name))
    execFileSync('cc', [...FLAGS, '-o', target, ...files], { stdio: ['ignore', 'inherit', 'inherit'] })
  }
  compile(native.yardstick, CONVERTER)
  compile(native.converter, 'main.c')
  return native
}

function hasCompiler() {
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
