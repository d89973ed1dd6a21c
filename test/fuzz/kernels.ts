import { readFileSync } from 'node:fs'
import { exportGlobals, globalName } from './wasm-globals.js'

/** What is needed of WebAssembly here; Node's types have none. */
interface Instance {
  readonly exports: Readonly<Record<string, unknown>>
}
interface Global {
  value: number | bigint
}
interface Memory {
  readonly buffer: ArrayBuffer
}
type ModuleConstructor = new (bytes: Uint8Array) => object
type InstanceConstructor = new (module: object, imports: object) => Instance
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Module: ModuleConstructor; Instance: InstanceConstructor }
}
const { Module, Instance } = WebAssembly

/** The kernels of which each decoder, encoder or transform has an instance of its own. All others are shared. */
const OWN = ['lzma2', 'live', 'ltrace', 'statistics', 'valgrind', 'xxh64']
/** The kernel that clears what it knows when a trace begins. */
const BEGINS_ANEW = 'mtrc'
// The fuzzer runs compiled, in `dist`, and its own tests where the sources are.
const KERNELS = new URL('../../dist/kernel/', import.meta.url.replace('/dist/test/', '/test/'))
/** An instance whose memory has grown beyond this is not used again. */
const MAX_MEMORY = 8_000_000

/** A kernel whose instances serve one input after the other, for making one takes longer than reading a small trace. */
class Pool {
  private readonly idle: Instance[] = []
  private readonly busy: Instance[] = []
  /** How a new instance begins: the values of its variables, and its memory up to the last byte that is not 0. */
  private variables: (number | bigint)[] | undefined
  private data = new Uint8Array(0)

  /** @param count how many variables were exported to be set; undefined for a kernel that begins anew by itself */
  constructor(
    private readonly module: object,
    private readonly count: number | undefined,
  ) {}

  take(imports: object): Instance {
    const instance = this.idle.pop() ?? this.create(imports)
    this.busy.push(instance)
    return instance
  }

  private create(imports: object): Instance {
    const instance = new Instance(this.module, imports)
    if (this.count !== undefined && this.variables === undefined) {
      const { buffer } = instance.exports['memory'] as Memory
      const bytes = new Uint8Array(buffer)
      this.data = bytes.slice(0, bytes.findLastIndex((byte) => byte !== 0) + 1)
      this.variables = this.globals(instance).map(({ value }) => value)
    }
    return instance
  }

  private globals({ exports }: Instance): Global[] {
    return Array.from({ length: this.count ?? 0 }, (_, i) => exports[globalName(i)] as Global)
  }

  /** Nothing uses the instances any more. */
  release(): void {
    for (const instance of this.busy) {
      const { buffer } = instance.exports['memory'] as Memory
      if (buffer.byteLength > MAX_MEMORY) continue
      if (this.count !== undefined) this.rewind(instance, new Uint8Array(buffer))
      this.idle.push(instance)
    }
    this.busy.length = 0
  }

  private rewind(instance: Instance, memory: Uint8Array): void {
    memory.fill(0, this.data.length).set(this.data)
    this.globals(instance).forEach((global, i) => {
      global.value = this.variables?.[i] as number
    })
  }
}

const pools = new Map<object, Pool>()

/** From now on kernels that are not shared are taken from pools. Must be called before the first of them is loaded. */
export function reuseKernels(): void {
  const own = new Map(OWN.map((name) => [bytesOf(name), true]))
  own.set(bytesOf(BEGINS_ANEW), false)
  WebAssembly.Module = function (bytes: Uint8Array): object {
    const isRewound = own.get(Buffer.from(bytes).toString('base64'))
    if (isRewound === undefined) return new Module(bytes)
    const { bytes: changed, count } = isRewound ? exportGlobals(bytes) : { bytes, count: undefined }
    const module = new Module(changed)
    pools.set(module, new Pool(module, count))
    return module
  } as unknown as ModuleConstructor
  WebAssembly.Instance = function (module: object, imports: object): Instance {
    return pools.get(module)?.take(imports) ?? new Instance(module, imports)
  } as unknown as InstanceConstructor
}

function bytesOf(name: string): string {
  return readFileSync(new URL(`${name}.wasm`, KERNELS)).toString('base64')
}

/** Nothing of the last input is in use any more. */
export function releaseKernels(): void {
  for (const pool of pools.values()) pool.release()
}
