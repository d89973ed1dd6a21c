import { KernelInput } from './input.js'
import { KERNEL_EVENTS, loadKernel, type Global, type KernelExports } from './load.js'
import { columnOf, EventBatch, U64Column } from '../event/batch.js'
import { FIELDS } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'
import type { StringTable } from '../event/strings.js'

/** An instance of a kernel: its exports, and the parts of its memory that batches and input are copied to and from. */
export interface Kernel<Exports extends KernelExports> {
  readonly run: Exports
  readonly columns: KernelColumns
  readonly input: KernelInput
  /** The memory from the start of the output buffer. */
  readonly output: Uint8Array
}

/** A new instance of a kernel, with its own memory. */
export function instantiate<Exports extends KernelExports>(name: string): Kernel<Exports> {
  const run = loadKernel<Exports>(name)
  return {
    run,
    columns: new KernelColumns(run),
    input: new KernelInput(run),
    output: new Uint8Array(run.memory.buffer, run.OUTPUT?.value),
  }
}

/** The only instance of a stateless kernel, created when first needed. */
export function shared<Exports extends KernelExports>(name: string): () => Kernel<Exports> {
  let kernel: Kernel<Exports> | undefined
  return () => (kernel ??= instantiate<Exports>(name))
}

/** By the field's position in `FIELDS`, the name of the export that has the address of its column. */
const COLUMN_EXPORTS = FIELDS.map((_, f) => constant(columnOf(f)))

/** The columns in a kernel's memory. */
export class KernelColumns {
  private readonly mask: Uint32Array
  private readonly kind: Uint8Array
  /** By the field's position in `FIELDS`; 64-bit columns as pairs of words. */
  private readonly columns: readonly (Uint8Array | Uint32Array | Int32Array | undefined)[]
  /** The set of fields for which the kernel has columns. */
  private readonly known: number

  /** @param exports a kernel whose memory has not grown since */
  constructor(exports: KernelExports) {
    const { buffer } = exports.memory
    const at = (name: string) => (exports as unknown as Record<string, Global | undefined>)[name]?.value
    this.mask = new Uint32Array(buffer, at('MASK'), KERNEL_EVENTS)
    this.kind = new Uint8Array(buffer, at('KIND'), KERNEL_EVENTS)
    const empty = new EventBatch(0, 0, { format: '' })
    this.columns = FIELDS.map((_, f) => {
      const column = columnOf(f)
      const address = at(COLUMN_EXPORTS[f])
      if (address === undefined) return undefined
      const like = empty[column]
      if (like instanceof U64Column) return new Uint32Array(buffer, address, 2 * KERNEL_EVENTS)
      return new (like.constructor as Uint32ArrayConstructor)(buffer, address, KERNEL_EVENTS)
    })
    this.known = this.columns.reduce((set, column, f) => (column === undefined ? set : set | (1 << f)), 0)
  }

  /** Copies `count` events, starting with event `from`, into a new batch with the given set of columns. */
  take(count: number, columns: number, header: TraceHeader, strings?: StringTable, from = 0): EventBatch {
    const end = from + count
    if (end > KERNEL_EVENTS) throw new RangeError(`a kernel has room for ${KERNEL_EVENTS} events, not ${end}`)
    const batch = EventBatch.unfilled(count, columns, header, strings)
    batch.mask.set(this.mask.subarray(from, end))
    batch.kind.set(this.kind.subarray(from, end))
    this.each(columns, (source, column) => {
      const to = batch[column]
      if (to instanceof U64Column) to.words.set((source as Uint32Array).subarray(2 * from, 2 * end))
      else to.set(source.subarray(from, end))
    })
    batch.count = count
    return batch
  }

  /**
   * Copies events `from` to `to` (at most 4096) from a batch.
   * @param columns the set of columns that the kernel will read; by default all that it has
   */
  put(batch: EventBatch, from: number, to: number, columns = this.known): void {
    this.mask.set(batch.mask.subarray(from, to))
    this.kind.set(batch.kind.subarray(from, to))
    this.each(batch.columns & columns, (target, column) => {
      const source = batch[column]
      if (source instanceof U64Column) (target as Uint32Array).set(source.words.subarray(2 * from, 2 * to))
      else target.set(source.subarray(from, to))
    })
  }

  /**
   * A batch whose columns are those in the kernel's memory, to read and write single events. It has no events itself.
   */
  view(strings: StringTable): EventBatch {
    const views: Record<string, unknown> = {
      mask: this.mask,
      kind: this.kind,
      capacity: KERNEL_EVENTS,
      columns: this.known,
    }
    this.each(this.known, (words, column) => {
      const isWide = words.length > KERNEL_EVENTS
      views[column] = isWide ? new U64Column(words.buffer as ArrayBuffer, words.byteOffset, KERNEL_EVENTS) : words
    })
    return Object.assign(new EventBatch(0, 0, { format: '' }, strings), views)
  }

  private each(
    set: number,
    visit: (column: Uint8Array | Uint32Array | Int32Array, name: ReturnType<typeof columnOf>) => void,
  ): void {
    for (; set !== 0; set &= set - 1) {
      const f = 31 - Math.clz32(set & -set)
      visit(this.columns[f] as Uint32Array, columnOf(f))
    }
  }
}

/** `oldAddress` is `OLD_ADDRESS` in a kernel. */
export function constant(name: string): string {
  return name.replace(/[A-Z]/g, '_$&').toUpperCase()
}
