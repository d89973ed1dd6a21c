import { KernelInput } from '../../kernel/input.js'
import { KERNEL_EVENTS, loadKernel, type Global, type Globals, type KernelExports } from '../../kernel/load.js'

/** The exports of kernel/heaptrack.ts, which documents them. */
interface HeaptrackExports
  extends KernelExports, Globals<'OPERATION' | 'END' | 'FIRST' | 'SECOND' | 'THIRD' | 'KINDS' | 'INFOS' | 'lives'> {
  readonly INPUT: Global
  decode(from: number, end: number): number
  makeLives(infos: number): number
  readBlocks(row: number, end: number): number
}

/** The kernel and the rows that it fills. */
export interface HeaptrackKernel {
  readonly run: HeaptrackExports
  readonly input: KernelInput
  readonly memory: Uint8Array
  readonly operation: Uint8Array
  readonly end: Uint32Array
  /** Numbers as pairs of words. */
  readonly first: Uint32Array
  readonly second: Uint32Array
  readonly third: Uint32Array
  /** Per row of allocations and frees, the kind of the event, and the number of its info. */
  readonly kinds: Uint8Array
  readonly infos: Uint32Array
}

let kernel: HeaptrackKernel | undefined

/** The kernel that all decoders share: its rows are used before another one calls it. */
export function heaptrackKernel(): HeaptrackKernel {
  return (kernel ??= newHeaptrackKernel())
}

export function newHeaptrackKernel(): HeaptrackKernel {
  return viewsOf(loadKernel<HeaptrackExports>('heaptrack'))
}

/** A kernel with views of its memory. */
export function viewsOf(run: HeaptrackExports): HeaptrackKernel {
  const { buffer } = run.memory
  const wide = ({ value }: Global) => new Uint32Array(buffer, value, 2 * KERNEL_EVENTS)
  return {
    run,
    input: new KernelInput(run),
    memory: new Uint8Array(buffer),
    operation: new Uint8Array(buffer, run.OPERATION.value, KERNEL_EVENTS),
    end: new Uint32Array(buffer, run.END.value, KERNEL_EVENTS),
    first: wide(run.FIRST),
    second: wide(run.SECOND),
    third: wide(run.THIRD),
    kinds: new Uint8Array(buffer, run.KINDS.value, KERNEL_EVENTS),
    infos: new Uint32Array(buffer, run.INFOS.value, KERNEL_EVENTS),
  }
}
