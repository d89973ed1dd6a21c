import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

const REASONS: Readonly<Record<string, string>> = {
  EMFILE: 'too many open files: raise the limit (ulimit -n)',
  ENFILE: 'too many open files in the whole system',
  ENOMEM: 'not enough memory',
}

/** The message for an error that reports a limit of the process or the system; undefined for any other error. */
export function limitReached(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined && code in REASONS) return REASONS[code]
  if (code === 'ERR_MODULE_NOT_FOUND') return isThere(error.message) ? REASONS['EMFILE'] : undefined
  // The errors of V8 have no codes.
  if (!(error instanceof RangeError)) return undefined
  if (/WebAssembly|Wasm/.test(error.message))
    return 'not enough address space for WebAssembly: raise ulimit -v, or set NODE_OPTIONS=--disable-wasm-trap-handler'
  return error.message === 'Array buffer allocation failed' ? REASONS['ENOMEM'] : undefined
}

/**
 * Whether the module that Node reports as missing exists. Node treats every error of opening a package.json as a
 * missing file, so a limit on open files appears as this error while modules are loaded.
 */
function isThere(message: string): boolean {
  const [, kind, path] = /^Cannot find (package|module) '([^']+)'/.exec(message) ?? []
  if (path === undefined || !isAbsolute(path)) return false
  return existsSync(kind === 'package' ? join(dirname(path), 'package.json') : path)
}
