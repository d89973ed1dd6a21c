import { limit, malformed, type TraceError, type TracePosition } from '../../event/error.js'
import { StringTable } from '../../event/strings.js'
import { GrowingKernel } from '../../kernel/growing.js'
import * as Layout from '../../kernel/layouts/mtrc.js'
import type { Global, Globals, KernelExports } from '../../kernel/load.js'

/** The exports of kernel/mtrc.ts, which documents them. */
interface MtrcExports
  extends
    KernelExports,
    Globals<'stop' | 'fault' | 'position' | 'fields' | 'nameCount' | 'nameBytes' | 'SPACES' | 'written'>,
    Globals<'recordStart' | 'notes' | 'wanted' | 'isFull'> {
  readonly OUTPUT: Global
  seed(value: number): void
  begin(hasSources: boolean, resolves: boolean, byAddress: boolean): number

  decode(from: number, end: number, capacity: number): number
  layOutNames(): number

  setSpaces(are: boolean): void
  beginBatch(): void
  encode(from: number, to: number): number
  setWritten(bytes: number): void
  room(length: number): number
  define(length: number): void
  roomForAll(count: number, bytes: number): number
  defineAll(at: number, count: number): void
  refuse(): void
}

/** A kernel for one decoder or one encoder. */
export type MtrcKernel = GrowingKernel<MtrcExports>

/** A new instance, in which no trace has begun. */
export function mtrcKernel(): MtrcKernel {
  const kernel = new GrowingKernel<MtrcExports>('mtrc')
  // Hashes differ from process to process, so that no trace can be crafted with keys that collide.
  kernel.run.seed(SEED)
  return kernel
}

const SEED = Math.floor(Math.random() * 2 ** 32)

/**
 * The error for a fault within a record.
 * @param fault the kernel's number for it
 * @param type the record's first byte
 */
export function failure(fault: number, type: number, at: TracePosition): TraceError {
  if (fault === Layout.NUMBER_TOO_WIDE) return malformed('a number has more than 64 bits', at)
  if (fault === Layout.NUMBER_TOO_LONG) return limit(`a number takes more than ${Layout.MAX_LEB} bytes`, at)
  if (fault === Layout.LINE_TOO_LARGE) return limit('a line number has more than 32 bits', at)
  if (fault === Layout.NO_SUCH_ENTRY) return malformed(`a name has an entry outside 1 to ${Layout.NAME_ENTRIES}`, at)
  if (fault === Layout.ENTRY_UNDEFINED) return malformed('a name refers to an entry that is not defined yet', at)
  if (fault === Layout.NAME_TOO_LONG) return limit(`a name takes more than ${Layout.MAX_NAME} bytes`, at)
  if (fault === Layout.NO_MEMORY) return tooManyBlocks(at)
  return malformed(`a record of unknown type 0x${type.toString(16).padStart(2, '0')}`, at)
}

/** The error for a trace that needs more than the 4 GiB that a kernel can have. */
export function tooManyBlocks(at: TracePosition): TraceError {
  return limit('more blocks are live at once than there is memory for', at)
}

/** The strings of the batch that was read last; undefined if there is no memory for them. */
export function stringsOf(kernel: MtrcKernel): StringTable | undefined {
  const { run } = kernel
  const count = run.nameCount.value
  if (count === 0) return new StringTable()
  const address = run.layOutNames()
  kernel.refresh()
  if (address === 0) return undefined
  const at = address - run.OUTPUT.value
  const head = 4 * (count + 1)
  // One copy, so one piece of memory, has both.
  const { buffer } = kernel.output.slice(at, at + head + run.nameBytes.value)
  return StringTable.of({ starts: new Uint32Array(buffer, 0, count + 1), bytes: new Uint8Array(buffer, head) })
}
