import { readFileSync } from 'node:fs'
import { releaseKernel, type KernelExports } from '../../lib/kernel/load.js'

/** What is needed of WebAssembly here; Node's types have none. */
type ModuleConstructor = new (bytes: Uint8Array) => object
type InstanceConstructor = new (module: object, imports: object) => { readonly exports: object }
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Module: ModuleConstructor; Instance: InstanceConstructor }
}
const { Module, Instance } = WebAssembly

/** The kernels of which each decoder, encoder or transform has an instance of its own. All others are shared. */
const OWN = ['live', 'ltrace', 'lzma2', 'mtrc', 'statistics', 'valgrind']
// The fuzzer runs compiled, in `dist`, and its own tests where the sources are.
const KERNELS = new URL('../../dist/kernel/', import.meta.url.replace('/dist/test/', '/test/'))

const own = new WeakSet<object>()
let busy: KernelExports[] = []

/** From now on `releaseKernels` knows all kernels that are not shared. Must be called before the first is loaded. */
export function reuseKernels(): void {
  const known = new Set(OWN.map((name) => readFileSync(new URL(`${name}.wasm`, KERNELS)).toString('base64')))
  WebAssembly.Module = function (bytes: Uint8Array): object {
    const module = new Module(bytes)
    if (known.has(Buffer.from(bytes).toString('base64'))) own.add(module)
    return module
  } as unknown as ModuleConstructor
  WebAssembly.Instance = function (module: object, imports: object): object {
    const instance = new Instance(module, imports)
    if (own.has(module)) busy.push(instance.exports as KernelExports)
    return instance
  } as unknown as InstanceConstructor
}

/** Nothing of the last input is in use any more: the next one gets the same memory. */
export function releaseKernels(): void {
  busy.forEach(releaseKernel)
  busy = []
}
