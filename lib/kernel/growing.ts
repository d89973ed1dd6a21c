import { KernelInput } from './input.js'
import { releaseKernel, type KernelExports } from './load.js'
import { instantiate, KernelColumns, type Kernel } from './instance.js'

/** A stateful kernel whose memory can grow. Growth detaches the old buffer, so all views must be created again. */
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

  /** Ends the use of the kernel. */
  dispose(): void {
    releaseKernel(this.run)
  }

  /** Call this after every function of the kernel that may have made its memory grow, before any other use. */
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
