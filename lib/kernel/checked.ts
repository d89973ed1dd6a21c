import type { WasmMemory } from './memories.js'

/**
 * Whether the environment variable `HEAPFLOW_KERNELS` asks for checked kernels, which assert that each access to memory
 * is in a room of the kernel (see kernel/README.md).
 */
export const CHECKED = globalThis.process?.env['HEAPFLOW_KERNELS'] === 'checked'

/** The additional exports of a checked kernel. */
interface Checked {
  /** Asserts that what lies behind the rooms was not overwritten. */
  checkRooms(): void
}

/** The exports of a checked kernel, with functions that check the rooms before they return. */
export function withChecks<Exports extends object>(exports: Exports): Exports {
  const { checkRooms } = exports as unknown as Checked
  const entries = Object.entries(exports).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'function' || name === 'checkRooms') return [name, value]
    const run = value as (...args: unknown[]) => unknown
    return [
      name,
      (...args: unknown[]) => {
        const result = run(...args)
        checkRooms()
        return result
      },
    ]
  })
  return Object.fromEntries(entries) as Exports
}

/**
 * The function that failed assertions of a checked kernel call.
 * @param name of the kernel
 */
export function failAssertion(name: string, memory: WasmMemory): (...place: number[]) => never {
  return (message = 0, file = 0, line = 0) => {
    const text = (at: number) => {
      const length = new Uint32Array(memory.buffer, at - 4, 1)[0]
      return String.fromCharCode(...new Uint16Array(memory.buffer, at, length / 2))
    }
    const place = file === 0 ? '' : ` (kernel/${text(file)}:${line})`
    throw new Error(`kernel ${name}: ${message === 0 ? 'an assertion failed' : text(message)}${place}`)
  }
}
