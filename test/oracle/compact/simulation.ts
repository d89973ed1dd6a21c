import { AllocatorKernel } from '../../../lib/allocators/kernel.js'
import { APIS } from '../../../lib/event/fields.js'
import type { Block } from './classes.js'
import type { Thread } from './history.js'

/** What a call asks for. */
export interface Request {
  readonly size: bigint
  readonly api: bigint | undefined
  readonly count: bigint | undefined
  readonly alignment: bigint | undefined
}

const CALLOC = BigInt(APIS.indexOf('calloc'))
const MEMALIGN = BigInt(APIS.indexOf('memalign'))

/** The simulated allocator of a trace. The pages specify it by the sources of that kernel, so it is used here, too. */
export class Simulation {
  readonly #run = new AllocatorKernel().run
  isOn = true
  #calls = 0
  #right = 0

  /** @param settings as in a trace section */
  constructor(settings: Uint8Array) {
    const view = new DataView(settings.buffer, settings.byteOffset)
    const [allocator, version, bits] = settings as unknown as [number, number, number]
    const cores = view.getUint32(4, true)
    const detail = BigInt(view.getUint32(8, true))
    if (settings.length !== 12 || this.#run.simStart(allocator, version, bits, cores, detail, 0n, 0n) === 0)
      throw new Error('no such allocator')
  }

  /** The expected address of a new block. */
  expect(
    { number }: Thread,
    { size, api, count, alignment }: Request,
    old?: { block: Block; address: bigint },
  ): bigint {
    const run = this.#run
    let expected
    if (old?.block.isSimulated === true) {
      expected = run.simRealloc(number, old.address, size)
      if (size === 0n) expected = run.simMalloc(number, 0n)
    } else if (api === CALLOC) expected = run.simCalloc(number, size, count ?? 0n)
    else if (api === MEMALIGN && alignment !== undefined) expected = run.simMemalign(number, alignment, size)
    else expected = run.simMalloc(number, size)
    return BigInt.asUintN(64, expected)
  }

  /** Where the new block is. */
  settle({ number }: Thread, size: bigint, expected: bigint, address: bigint): void {
    if (expected === address) this.#right++
    else this.#run.simFix(number, size, expected, address)
    if (++this.#calls < 4096) return
    if (this.#right < 1229) this.isOn = false
    this.#calls = this.#right = 0
  }

  /** A block ends; without an address, one that is not known. */
  free({ number }: Thread, address = 0n): void {
    if (this.isOn) this.#run.simFree(number, address)
  }

  /** A thread ends. */
  end({ number }: Thread): void {
    if (this.isOn) this.#run.simThreadEnd(number)
  }
}
