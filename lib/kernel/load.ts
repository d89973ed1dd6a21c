import { BATCH_EVENTS } from '../event/limits.js'
import { CHECKED, failAssertion, withChecks } from './checked.js'
import { giveMemory, memoryPages, takeMemory, type WasmMemory } from './memories.js'
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

/** Numbers exported by a kernel, by their names. */
export type Globals<Name extends string> = Readonly<Record<Name, Global>>

/**
 * The exports of every kernel in `kernel/` besides its functions: its memory and, as globals, addresses in it and the
 * additional results of functions.
 */
export interface KernelExports {
  readonly memory: WasmMemory
  /** The address of the input buffer, if the kernel reads bytes. */
  readonly INPUT?: Global
  /** The address of the output buffer, if the kernel writes bytes. */
  readonly OUTPUT?: Global
}

/** The address of a table that a kernel exports, which changes when it grows: kernel/shared/grow.ts. */
export function tableAt({ memory }: KernelExports, table: Global): number {
  return new Uint32Array(memory.buffer, table.value, 1)[0]
}

/** The capacity of a kernel's columns in events. */
export const KERNEL_EVENTS = BATCH_EVENTS

const modules = new Map<string, { readonly module: object; readonly pages: number }>()

/** The instances that have not been released. */
const inUse = new WeakSet<object>()

/** A new instance of a kernel, with its own memory. The owner gives that back with `releaseKernel`. */
export function loadKernel<Exports extends KernelExports>(name: string): Exports {
  let kernel = modules.get(name)
  if (kernel === undefined) {
    const bytes = readKernel(name)
    modules.set(name, (kernel = { module: new WebAssembly.Module(bytes), pages: memoryPages(bytes) }))
  }
  const memory = takeMemory(kernel.pages)
  const env = { abort: CHECKED ? failAssertion(name, memory) : unreachable, memory }
  const instance = new WebAssembly.Instance(kernel.module, { env })
  const exports = CHECKED ? withChecks(instance.exports) : instance.exports
  inUse.add(exports)
  return exports as Exports
}

/** Ends the use of an instance: its memory, and all views of it, belong to others from now on. */
export function releaseKernel(exports: KernelExports): void {
  if (inUse.delete(exports)) giveMemory(exports.memory)
}

function unreachable(): never {
  throw new Error('a kernel stopped: this is a bug')
}
