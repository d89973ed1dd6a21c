import { MAX_RANGES } from './layouts/select.js'
import { KERNEL_EVENTS, loadKernel, type Global, type Globals, type KernelExports } from './load.js'

/** The exports of kernel/select.ts, which documents them. */
interface SelectKernel extends KernelExports, Globals<'MASK' | 'ROWS' | 'SOURCE' | 'GATHERED' | 'RANGES' | 'CODES'> {
  inRange(has: number, n: number): number
  inRanges(has: number, ranges: number, n: number): number
  isWanted(has: number, n: number): number
  gather8(n: number): void
  gather4(n: number): void
  gather1(n: number): void
}

export { MAX_RANGES }

/** The kernel, with views of its memory. */
class SelectMemory {
  readonly mask: Uint32Array
  readonly rows: Uint32Array
  private readonly ranges: BigUint64Array
  private readonly codes: Uint8Array
  /** The column to examine, by the size of its values in bytes; 8-byte values as pairs of words. */
  readonly source: { readonly 8: Uint32Array; readonly 4: Uint32Array; readonly 1: Uint8Array }
  /** The gathered values, likewise. */
  readonly gathered: { readonly 8: Uint32Array; readonly 4: Uint32Array; readonly 1: Uint8Array }

  private loadedRanges: BigUint64Array | undefined
  private loadedCodes: Uint8Array | undefined

  constructor(readonly run: SelectKernel) {
    const { buffer } = run.memory
    const words = (at: Global, n: number) => new Uint32Array(buffer, at.value, n)
    const sizes = (at: Global) => ({
      8: words(at, 2 * KERNEL_EVENTS),
      4: words(at, KERNEL_EVENTS),
      1: new Uint8Array(buffer, at.value, KERNEL_EVENTS),
    })
    this.mask = words(run.MASK, KERNEL_EVENTS)
    this.rows = words(run.ROWS, KERNEL_EVENTS)
    this.ranges = new BigUint64Array(buffer, run.RANGES.value, 2 * MAX_RANGES)
    this.codes = new Uint8Array(buffer, run.CODES.value, 256)
    this.source = sizes(run.SOURCE)
    this.gathered = sizes(run.GATHERED)
  }

  /** Sets the ranges to select. Repeating the same array costs nothing. */
  useRanges(ranges: BigUint64Array): void {
    if (this.loadedRanges !== ranges) this.ranges.set(ranges)
    this.loadedRanges = ranges
  }

  /** Sets the codes to select. Repeating the same array costs nothing. */
  useCodes(codes: Uint8Array): void {
    if (this.loadedCodes !== codes) this.codes.set(codes)
    this.loadedCodes = codes
  }
}

let memory: SelectMemory | undefined

/** The only instance, shared by all callers. */
export function selectMemory(): SelectMemory {
  return (memory ??= new SelectMemory(loadKernel<SelectKernel>('select')))
}
