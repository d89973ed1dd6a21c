import { APIS } from '../../../lib/event/fields.js'
import { CALLOC, MALLOC, MEMALIGN, REALLOC } from '../../../lib/kernel/layouts/allocators.js'
import { loadKernel, type Global, type KernelExports } from '../../../lib/kernel/load.js'
import type { Block } from './classes.js'
import type { Thread } from './history.js'

/** What a call asks for. */
export interface Request {
  readonly size: bigint
  readonly api: bigint | undefined
  readonly count: bigint | undefined
  readonly alignment: bigint | undefined
}

/** Of kernel/allocators/simulator.ts, what compact uses, too. */
interface Simulator extends KernelExports {
  simStart(kind: number, version: number, bits: number, cores: number, detail: bigint, learns: boolean): number
  simCall(called: number, thread: number, more: bigint, old: number, size: bigint): bigint
  simSettle(actual: bigint): void
  simRelease(thread: number, handle: number): void
  simThreadEnd(thread: number): void
  readonly simHandle: Global
}

const API = { calloc: BigInt(APIS.indexOf('calloc')), memalign: BigInt(APIS.indexOf('memalign')) }

/** The simulated allocator of a trace. The pages specify it by the sources of that kernel, so it is used here, too. */
export class Simulation {
  readonly #run = loadKernel<Simulator>('allocators')
  isOn = true
  #calls = 0
  #right = 0

  /** @param settings as in a trace section */
  constructor(settings: Uint8Array) {
    const view = new DataView(settings.buffer, settings.byteOffset)
    const [allocator, version, bits, flags] = settings as unknown as [number, number, number, number]
    const cores = view.getUint32(4, true)
    const detail = BigInt(view.getUint32(8, true))
    if (settings.length !== 12 || this.#run.simStart(allocator, version, bits, cores, detail, flags !== 0) === 0)
      throw new Error('no such allocator')
  }

  /** The expected address of a new block. */
  expect(t: Thread, { size, api, count, alignment }: Request, old?: Block): bigint {
    const call = (called: number, more: bigint, handle = 0) =>
      BigInt.asUintN(64, this.#run.simCall(called, t.number, more, handle, size))
    if (old !== undefined && old.handle !== 0) {
      if (size !== 0n) return call(REALLOC, 0n, old.handle)
      this.free(t, old)
    } else if (api === API.calloc) return call(CALLOC, count ?? 0n)
    else if (api === API.memalign && alignment !== undefined) return call(MEMALIGN, alignment)
    return call(MALLOC, 0n)
  }

  /** Where the new block is. @returns its handle; 0 if it is not known */
  settle(expected: bigint, address: bigint): number {
    if (expected === address) this.#right++
    else this.#run.simSettle(address)
    if (++this.#calls === 4096) {
      if (this.#right < 1229) this.isOn = false
      this.#calls = this.#right = 0
    }
    return this.#run.simHandle.value
  }

  /** A block ends; without one, one that is not known. */
  free({ number }: Thread, block?: Block): void {
    if (this.isOn) this.#run.simRelease(number, block?.handle ?? 0)
  }

  /** A thread ends. */
  end({ number }: Thread): void {
    if (this.isOn) this.#run.simThreadEnd(number)
  }
}
