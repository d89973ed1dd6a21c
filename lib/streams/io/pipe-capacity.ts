import { ownFile } from '../own-files.js'

let isDone = false

/**
 * Gives the pipes at standard input and output a capacity of 1 MiB, once, where the package has the module that does
 * so: then two commands wait for each other less often. Otherwise they keep the 64 KiB that Linux gives them.
 */
export function enlargePipes(): void {
  if (isDone) return
  isDone = true
  const file = process.platform === 'linux' ? ownFile(`dist/native/pipes-${process.arch}.node`) : undefined
  if (file === undefined) return
  try {
    process.dlopen({ exports: {} }, file)
  } catch {
    // Node may be told to load no modules, and other runtimes cannot.
  }
}
