/** The memory of a kernel. Node's types have none. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
}

declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => WasmMemory
}

const PAGE = 65_536
/**
 * A memory that has grown beyond this is left to the garbage collector: clearing it would take longer than a new one.
 */
const MAX_MEMORY = 1 << 23
/** The number of unused memories that are kept. */
const MAX_IDLE = 8

/**
 * Unused memories, the smallest first. They are used again because the engine reserves some 10 GB of addresses for
 * each, and the garbage collector does not know of these: thousands of short pipelines would exhaust them.
 */
const idle: WasmMemory[] = []

/** A memory of at least this many pages, all zeros. */
export function takeMemory(pages: number): WasmMemory {
  const place = idle.findIndex(({ buffer }) => buffer.byteLength >= pages * PAGE)
  if (place < 0) return new WebAssembly.Memory({ initial: pages })
  const [memory] = idle.splice(place, 1) as [WasmMemory]
  new Uint8Array(memory.buffer).fill(0)
  return memory
}

/** Returns a memory that no kernel uses any more. */
export function giveMemory(memory: WasmMemory): void {
  const { byteLength } = memory.buffer
  if (byteLength > MAX_MEMORY || idle.length === MAX_IDLE) return
  const place = idle.findIndex(({ buffer }) => buffer.byteLength >= byteLength)
  idle.splice(place < 0 ? idle.length : place, 0, memory)
}

/**
 * The pages of memory that a kernel needs at first: the import section of its module says so.
 * @param bytes a module that imports a memory (WebAssembly Core Specification, section 5.5.5)
 */
export function memoryPages(bytes: Uint8Array): number {
  let at = 8
  const number = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const id = bytes[at++]
    const size = number()
    const end = at + size
    if (id === 2) {
      for (let imports = number(); imports > 0; imports--) {
        // The names of the module and of the field.
        for (let names = 0; names < 2; names++) {
          const length = number()
          at += length
        }
        const kind = bytes[at++]
        if (kind !== 2) number()
        else {
          at++
          return number()
        }
      }
    }
    at = end
  }
  throw new Error('a kernel does not import its memory')
}
