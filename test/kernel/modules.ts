import { failAssertion, withChecks, CHECKED } from '../../lib/kernel/checked.js'
import { memoryPages, type WasmMemory } from '../../lib/kernel/memories.js'
import type { Global } from '../../lib/kernel/load.js'

/** The part of the WebAssembly interface used here; Node's types have none. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WasmMemory
}

/** Changes the source of a module. */
export type Edit = (path: string, text: string | null) => string | null

export const { compileKernel } = (await import('../../scripts/compile-kernel.mjs' as string)) as {
  compileKernel(name: string, isChecked: boolean, edit?: Edit): Promise<Uint8Array>
}

/** The functions of a kernel's modules, and its memory. 64-bit integers are signed. */
export interface Modules {
  readonly memory: WasmMemory
  readonly [name: string]: unknown
}

/** What a test calls and reads in a kernel. */
export class Parts {
  private buffer: ArrayBuffer
  private view: DataView

  constructor(private readonly exports: Modules) {
    this.buffer = exports.memory.buffer
    this.view = new DataView(this.buffer)
  }

  /** A function; integers of 64 bits are bigints for it, others numbers. */
  call<Arguments extends unknown[]>(name: string): (...args: Arguments) => number {
    return this.exports[name] as (...args: Arguments) => number
  }

  /** The value of an exported variable. */
  number(name: string): number {
    return Number((this.exports[name] as Global).value)
  }

  /** The memory, as it is now. */
  get words(): DataView {
    const { buffer } = this.exports.memory
    if (buffer !== this.buffer) {
      this.buffer = buffer
      this.view = new DataView(buffer)
    }
    return this.view
  }
}

/**
 * Compiles a kernel that consists of modules.
 * @param source of the kernel, in kernel/: it exports what the test uses of modules
 * @param isChecked whether each access to memory is checked
 * @returns makes instances, which may have this many bytes of memory more than they need at first
 */
export async function compileModules(
  source: string,
  isChecked = CHECKED,
  edit: Edit = (_, text) => text,
): Promise<(bytes?: number) => Parts> {
  const name = 'modules-of-test'
  const bytes = await compileKernel(name, isChecked, (path, text) =>
    path === `${name}.ts` ? source : edit(path, text),
  )
  const module = new WebAssembly.Module(bytes)
  const initial = memoryPages(bytes)
  return (more = 2 ** 32) => {
    const memory = new WebAssembly.Memory({ initial, maximum: Math.min(65_536, initial + Math.ceil(more / 65_536)) })
    const stop = () => {
      throw new Error('a kernel stopped')
    }
    const env = { memory, abort: isChecked ? failAssertion(name, memory) : stop }
    const { exports } = new WebAssembly.Instance(module, { env })
    return new Parts((isChecked ? withChecks(exports) : exports) as Modules)
  }
}
