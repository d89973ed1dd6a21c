import { KERNEL_EVENTS, loadKernel, type Global, type KernelExports } from './load.js'

/** kernel/select.ts, which says what each of these is. */
export interface SelectKernel extends KernelExports {
  inRange(has: number, n: number): number
  inRanges(has: number, ranges: number, n: number): number
  isWanted(has: number, n: number): number
  gather8(n: number): void
  gather4(n: number): void
  gather1(n: number): void
  readonly MASK: Global
  readonly ROWS: Global
  readonly SOURCE: Global
  readonly GATHERED: Global
  readonly RANGES: Global
  readonly CODES: Global
}

/** How many ranges the kernel has room for. */
export const MAX_RANGES = 65_536

/** The kernel, and what of its memory is written and read. */
export class SelectMemory {
  readonly mask: Uint32Array
  readonly rows: Uint32Array
  private readonly ranges: BigUint64Array
  private readonly codes: Uint8Array
  /** The column that is looked at, by the size of its values in bytes; those of eight as pairs of words. */
  readonly source: { readonly 8: Uint32Array; readonly 4: Uint32Array; readonly 1: Uint8Array }
  /** What was gathered, likewise. */
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

  /** Makes these the ranges that are wanted. The same array is copied only once in a row. */
  useRanges(ranges: BigUint64Array): void {
    if (this.loadedRanges !== ranges) this.ranges.set(ranges)
    this.loadedRanges = ranges
  }

  /** Makes these the codes that are wanted, likewise. */
  useCodes(codes: Uint8Array): void {
    if (this.loadedCodes !== codes) this.codes.set(codes)
    this.loadedCodes = codes
  }
}

let memory: SelectMemory | undefined

/** The one instance, which all share in turns. */
export function selectMemory(): SelectMemory {
  return (memory ??= new SelectMemory(loadKernel<SelectKernel>('select')))
}
