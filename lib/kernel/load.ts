import { readKernel } from './read-kernel.js'

/** The part of the WebAssembly interface used here; Node's types have none. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
}

/** A number exported by a kernel. */
export interface Global {
  readonly value: number
}

/**
 * What every kernel in `kernel/` exports besides its functions: its memory and, as globals, addresses in it and the
 * additional results of functions.
 */
export interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  /** The address of the input buffer, if the kernel reads bytes. */
  readonly INPUT?: Global
  /** The address of the output buffer, if the kernel writes bytes. */
  readonly OUTPUT?: Global
}

/** The capacity of a kernel's columns in events; the same number as in kernel/shared/event.ts. */
export const KERNEL_EVENTS = 4096

const modules = new Map<string, object>()

/** A new instance of a kernel, with its own memory. */
export function loadKernel<Exports extends KernelExports>(name: string): Exports {
  let module = modules.get(name)
  if (module === undefined) modules.set(name, (module = new WebAssembly.Module(readKernel(name))))
  return new WebAssembly.Instance(module, { env: { abort: unreachable } }).exports as Exports
}

function unreachable(): never {
  throw new Error('a kernel stopped: this is a bug')
}
