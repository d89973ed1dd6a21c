import { KernelInput } from './input.js'
import type { KernelExports } from './load.js'
import { instantiate, KernelColumns, type Kernel } from './instance.js'

/**
 * An instance of a kernel that keeps something from call to call, in memory that grows with it. When memory grows, what
 * lies in it is to be looked at anew.
 */
export class GrowingKernel<Exports extends KernelExports> implements Kernel<Exports> {
  readonly run: Exports
  columns: KernelColumns
  input: KernelInput
  output: Uint8Array
  private buffer: ArrayBuffer

  constructor(name: string) {
    const { run, columns, input, output } = instantiate<Exports>(name)
    this.run = run
    this.columns = columns
    this.input = input
    this.output = output
    this.buffer = run.memory.buffer
  }

  /** To be called behind every function of the kernel that may have made memory grow, before anything else is used. */
  refresh(): void {
    const { run } = this
    const { buffer } = run.memory
    if (buffer === this.buffer) return
    this.buffer = buffer
    this.columns = new KernelColumns(run)
    this.input = new KernelInput(run)
    this.output = new Uint8Array(buffer, run.OUTPUT?.value)
  }
}
