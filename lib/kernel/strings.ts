import { instantiate, type Kernel } from './instance.js'
import { MAX_LISTED, MAX_LISTS, MAX_STRING_BYTES, MAX_STRINGS } from './layouts/strings.js'
import type { Globals, KernelExports } from './load.js'
import { StringTable } from '../event/strings.js'

/** The exports of kernel/shared/strings.ts, which documents them. */
export interface StringsExports
  extends
    KernelExports,
    Globals<'STRINGS' | 'STARTS' | 'LISTED' | 'LISTS' | 'strings' | 'stringBytes' | 'listed' | 'lists'> {
  setSeed(random: bigint): void
}

/** The strings and lists of one batch in a kernel's memory. */
export class KernelStrings {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly starts: Uint32Array<ArrayBuffer>
  readonly listed: Uint32Array<ArrayBuffer>
  readonly lists: Uint32Array<ArrayBuffer>

  /** Also seeds the kernel's hashes, so that no trace can be crafted with strings that collide. */
  constructor(private readonly run: StringsExports) {
    const { buffer } = run.memory
    this.bytes = new Uint8Array(buffer, run.STRINGS.value, MAX_STRING_BYTES)
    this.starts = new Uint32Array(buffer, run.STARTS.value, MAX_STRINGS + 1)
    this.listed = new Uint32Array(buffer, run.LISTED.value, MAX_LISTED)
    this.lists = new Uint32Array(buffer, run.LISTS.value, MAX_LISTS + 1)
    run.setSeed(BigInt(Math.floor(Math.random() * 2 ** 32)) * 0x1_0001_0001n)
  }

  /** A copy of the strings of the batch that was decoded. */
  take(): StringTable {
    const { run } = this
    const strings = run.strings.value
    if (strings === 0 && run.lists.value === 0) return new StringTable()
    const length = run.stringBytes.value
    // One piece of memory for both saves an allocation.
    const buffer = new ArrayBuffer(4 * (strings + 1) + length)
    const starts = new Uint32Array(buffer, 0, strings + 1)
    const bytes = new Uint8Array(buffer, starts.byteLength)
    starts.set(this.starts.subarray(0, strings + 1))
    bytes.set(this.bytes.subarray(0, length))
    return run.lists.value === 0
      ? StringTable.of({ bytes, starts })
      : StringTable.of({
          bytes,
          starts,
          listed: this.listed.slice(0, run.listed.value),
          lists: this.lists.slice(0, run.lists.value + 1),
        })
  }
}

/** A kernel and the strings in its memory. */
export interface StringsKernel<Exports extends StringsExports> extends Kernel<Exports> {
  readonly strings: KernelStrings
}

/** A new instance of a kernel with strings. */
export function withStrings<Exports extends StringsExports>(name: string): StringsKernel<Exports> {
  const kernel = instantiate<Exports>(name)
  return { ...kernel, strings: new KernelStrings(kernel.run) }
}
