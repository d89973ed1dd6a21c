import { instantiate, type Kernel } from '../../kernel/instance.js'
import * as Line from '../../kernel/layouts/heaptrack.js'
import { KERNEL_EVENTS, type Global, type KernelExports } from '../../kernel/load.js'

/** The exports of kernel/heaptrack.ts, which documents them. */
interface HeaptrackExports extends KernelExports {
  readonly INPUT: Global
  readonly OPERATION: Global
  readonly END: Global
  readonly FIRST: Global
  readonly SECOND: Global
  readonly THIRD: Global
  decode(from: number, end: number): number
}

/** The sorts of lines. */
export const Operation = {
  text: Line.TEXT,
  wrong: Line.WRONG,
  alloc: Line.ALLOC,
  free: Line.FREE,
  allocInfo: Line.ALLOC_INFO,
  node: Line.NODE,
  info: Line.INFO,
  time: Line.TIME,
  resident: Line.RESIDENT,
} as const

/** The kernel and the rows that it fills. */
export interface HeaptrackKernel extends Kernel<HeaptrackExports> {
  readonly memory: Uint8Array
  readonly operation: Uint8Array
  readonly end: Uint32Array
  /** Numbers as pairs of words. */
  readonly first: Uint32Array
  readonly second: Uint32Array
  readonly third: Uint32Array
}

let kernel: HeaptrackKernel | undefined

/** The kernel that all decoders share: its rows are used before another one calls it. */
export function heaptrackKernel(): HeaptrackKernel {
  if (kernel !== undefined) return kernel
  const instance = instantiate<HeaptrackExports>('heaptrack')
  const { run } = instance
  const { buffer } = run.memory
  const wide = ({ value }: Global) => new Uint32Array(buffer, value, 2 * KERNEL_EVENTS)
  return (kernel = {
    ...instance,
    memory: new Uint8Array(buffer),
    operation: new Uint8Array(buffer, run.OPERATION.value, KERNEL_EVENTS),
    end: new Uint32Array(buffer, run.END.value, KERNEL_EVENTS),
    first: wide(run.FIRST),
    second: wide(run.SECOND),
    third: wide(run.THIRD),
  })
}
