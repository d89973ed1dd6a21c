import { readFileSync } from 'node:fs'

/** The part of the interface to WebAssembly that is needed here; Node's types have none. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
}

/** A number that a kernel shows. */
export interface Global {
  readonly value: number
}

/**
 * What every kernel of `kernel/` exports besides its functions: its memory and, as globals, addresses of what lies in
 * it and the results that a function leaves beside the one that it returns.
 */
export interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  /** Where input is read, if it reads bytes. */
  readonly INPUT?: Global
  /** Where output is written, if it writes bytes. */
  readonly OUTPUT?: Global
}

/** How many events a kernel's columns have room for; kernel/shared/event.ts has the same number. */
export const KERNEL_EVENTS = 4096

const modules = new Map<string, object>()

/** A new instance of a kernel, with memory of its own. */
export function loadKernel<Exports extends KernelExports>(name: string): Exports {
  let module = modules.get(name)
  if (module === undefined) modules.set(name, (module = new WebAssembly.Module(readKernel(name))))
  return new WebAssembly.Instance(module, { env: { abort: unreachable } }).exports as Exports
}

function readKernel(name: string): Uint8Array<ArrayBuffer> {
  // Beside dist/lib there is dist/kernel; beside lib, where the tests run, there are the sources.
  for (const folder of ['../../kernel', '../../dist/kernel']) {
    try {
      return new Uint8Array(readFileSync(new URL(`${folder}/${name}.wasm`, import.meta.url)))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new Error(`kernel/${name}.wasm is missing: has the project been built?`)
}

function unreachable(): never {
  throw new Error('a kernel stopped: this is a bug')
}
