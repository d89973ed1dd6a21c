import { readFileSync } from 'node:fs'
import type { Input } from '../bytes/input.js'
import { columnOf, EventBatch, U64Column } from '../event/batch.js'
import { FIELDS } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'
import type { StringTable } from '../event/strings.js'

/** The part of the interface to WebAssembly that is needed here; Node's types have none. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
}

/** A number that a kernel shows. */
export interface Global {
  readonly value: number
}

/**
 * What every kernel of `kernel/` exports besides its functions: its memory and, as globals, addresses of what lies in it and the
 * results that a function leaves beside the one that it returns.
 */
export interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  /** Where input is read, if it reads bytes. */
  readonly INPUT?: Global
  /** Where output is written, if it writes bytes. */
  readonly OUTPUT?: Global
}

/** How many bytes of input a kernel's memory has room for. */
export const KERNEL_INPUT = 262_144

/** An instance of a kernel: its exports, and the two sides of its memory that batches and input are copied to and from. */
export interface Kernel<Exports extends KernelExports> {
  readonly run: Exports
  readonly columns: KernelColumns
  readonly input: KernelInput
  /** What lies in memory from where output is written. */
  readonly output: Uint8Array
}

const modules = new Map<string, object>()

/** A new instance of a kernel, with memory of its own. */
export function instantiate<Exports extends KernelExports>(name: string): Kernel<Exports> {
  let module = modules.get(name)
  if (module === undefined) modules.set(name, (module = new WebAssembly.Module(readKernel(name))))
  const run = new WebAssembly.Instance(module, { env: { abort: unreachable } }).exports as Exports
  return { run, columns: new KernelColumns(run), input: new KernelInput(run), output: new Uint8Array(run.memory.buffer, run.OUTPUT?.value) }
}

/** The one instance of a kernel that keeps nothing from call to call, made when it is first asked for. */
export function shared<Exports extends KernelExports>(name: string): () => Kernel<Exports> {
  let kernel: Kernel<Exports> | undefined
  return () => (kernel ??= instantiate<Exports>(name))
}

function readKernel(name: string): Uint8Array<ArrayBuffer> {
  // Beside dist/lib there is dist/kernel; beside lib, where the tests run, there are the sources.
  for (const folder of ['../../kernel', '../../dist/kernel']) {
    try {
      return new Uint8Array(readFileSync(new URL(`${folder}/${name}.wasm`, import.meta.url)))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new Error(`kernel/${name}.wasm is missing: has the project been built?`)
}

function unreachable(): never {
  throw new Error('a kernel stopped: this is a bug')
}

/** The columns in a kernel's memory. */
export class KernelColumns {
  private readonly mask: Uint32Array
  private readonly kind: Uint8Array
  /** By the field's position in `FIELDS`; 64-bit columns as pairs of words. */
  private readonly columns: readonly (Uint8Array | Uint32Array | Int32Array | undefined)[]
  /** The set of fields that the kernel has columns for. */
  private readonly known: number

  /** @param exports a kernel whose memory has not grown since */
  constructor(exports: KernelExports) {
    const { buffer } = exports.memory
    const at = (name: string) => ((exports as unknown as Record<string, Global | undefined>)[constant(name)])?.value
    this.mask = new Uint32Array(buffer, at('mask'), KERNEL_EVENTS)
    this.kind = new Uint8Array(buffer, at('kind'), KERNEL_EVENTS)
    const empty = new EventBatch(0, 0, { format: '' })
    this.columns = FIELDS.map((_, f) => {
      const column = columnOf(f)
      const address = at(column)
      if (address === undefined) return undefined
      const like = empty[column]
      if (like instanceof U64Column) return new Uint32Array(buffer, address, 2 * KERNEL_EVENTS)
      return new (like.constructor as Uint32ArrayConstructor)(buffer, address, KERNEL_EVENTS)
    })
    this.known = this.columns.reduce((set, column, f) => (column === undefined ? set : set | (1 << f)), 0)
  }

  /** Copies `count` events from the first or another one on, and of them the columns of a set, into a new batch. */
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
   * Copies events `from` to `to`, of which there may be 4096, from a batch.
   * @param columns the set of columns that the kernel is going to look at: all that it has, if nothing is said
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

  /** A batch whose columns are those in the kernel's memory, to read and write single events in. It has no events of its own. */
  view(strings: StringTable): EventBatch {
    const views: Record<string, unknown> = { mask: this.mask, kind: this.kind, capacity: KERNEL_EVENTS, columns: this.known }
    this.each(this.known, (words, column) => {
      const isWide = words.length > KERNEL_EVENTS
      views[column] = isWide ? new U64Column(words.buffer as ArrayBuffer, words.byteOffset, KERNEL_EVENTS) : words
    })
    return Object.assign(new EventBatch(0, 0, { format: '' }, strings), views)
  }

  private each(set: number, visit: (column: Uint8Array | Uint32Array | Int32Array, name: ReturnType<typeof columnOf>) => void): void {
    for (; set !== 0; set &= set - 1) {
      const f = 31 - Math.clz32(set & -set)
      visit(this.columns[f] as Uint32Array, columnOf(f))
    }
  }
}

/** How many events a kernel's columns have room for; kernel/shared/event.ts has the same number. */
export const KERNEL_EVENTS = 4096

/** `oldAddress` is `OLD_ADDRESS` in a kernel. */
export function constant(name: string): string {
  return name.replace(/[A-Z]/g, '_$&').toUpperCase()
}

/**
 * The part of an input that lies in a kernel's memory. Decoders of one format share a kernel, and take turns.
 */
export class KernelInput {
  private readonly bytes: Uint8Array
  private readonly address: number
  private owner: Input | null = null
  /** Offsets in the owner's stream of the first byte that lies here and of the one behind the last. */
  private first = 0
  private last = 0

  constructor(exports: KernelExports) {
    this.address = exports.INPUT?.value ?? 0
    this.bytes = new Uint8Array(exports.memory.buffer, this.address, KERNEL_INPUT)
  }

  /** One behind the last byte that lies here, as an address. */
  get end(): number {
    return this.address + this.last - this.first
  }

  /**
   * Makes sure that the unread bytes of an input, or the first `least` of them, lie here.
   * @param end one past the last byte that is wanted, as an index like `input.pos`
   * @param least so many that there is something to do with them
   * @returns the address of the first one
   */
  load(input: Input, end = input.end, least = KERNEL_INPUT / 4): number {
    const { offset } = input
    const wanted = offset + end - input.pos
    const here = this.owner === input && offset >= this.first && offset <= this.last && this.last <= wanted
    if (!here || this.last - offset < Math.min(wanted - offset, least)) {
      // What is here already stays, if there is room behind it: a record that comes in tiny pieces is not copied again for each of them.
      if (!here || wanted - this.first > KERNEL_INPUT) {
        this.owner = input
        this.first = this.last = offset
      }
      const from = input.pos + this.last - offset
      const to = Math.min(wanted, this.first + KERNEL_INPUT)
      input.copyTo(this.bytes, this.last - this.first, from, input.pos + to - offset)
      this.last = to
    }
    return this.address + offset - this.first
  }
}
