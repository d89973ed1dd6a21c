import { limit, malformed, type TraceError, type TracePosition } from '../../event/error.js'
import { StringTable } from '../../event/strings.js'
import { GrowingKernel } from '../../kernel/growing.js'
import { NO_MEMORY } from '../../kernel/layouts/compact.js'
import { tableAt, type Global, type Globals, type KernelExports } from '../../kernel/load.js'
import { LEVEL, type CompactLevel } from './layout.js'

export { NO_MEMORY }

/** The exports of kernel/compact.ts, which documents them. */
interface CompactExports
  extends
    KernelExports,
    Globals<'BYTES' | 'STARTS' | 'LISTED' | 'LISTS' | 'byteCount' | 'stringCount' | 'listedCount' | 'listCount'>,
    Globals<'fault' | 'hasEnds' | 'isSimulating' | 'fields'> {
  seed(value: number): void
  reset(): void
  startSimulation(
    allocator: number,
    version: number,
    bits: number,
    cores: number,
    detail: bigint,
    learns: boolean,
  ): boolean
  reserveStrings(bytes: number, strings: number, listed: number, lists: number): boolean
  beginEncoding(): void
  encode(from: number, to: number): number
  endWriting(): number
  payloadStart(): number
  eventsChecksum(): number
  reservePayload(length: number): number
  bytesChecksum(from: number, length: number): number
  beginDecoding(from: number, length: number, ends: boolean): void
  decode(count: number): number
  save(): number
  restore(from: number, length: number): boolean
  isWhole(): boolean
}

/** A kernel for one decoder or one encoder. */
export class CompactKernel extends GrowingKernel<CompactExports> {
  constructor(readonly level: CompactLevel) {
    super(level === LEVEL.best ? 'compact-best' : 'compact')
  }
}

const SEED = Math.floor(Math.random() * 2 ** 32)

/** Unused kernels: creating one takes much longer than resetting one. */
const idle: CompactKernel[] = []
const MAX_IDLE = 3
/** A kernel with more memory is left to the garbage collector. */
const MAX_IDLE_BYTES = 1 << 26

/** A reset kernel of a level. */
export function acquireKernel(level: CompactLevel): CompactKernel {
  const place = idle.findIndex((kernel) => kernel.level === level)
  let kernel = place < 0 ? undefined : idle.splice(place, 1)[0]
  if (kernel === undefined) {
    kernel = new CompactKernel(level)
    kernel.run.seed(SEED)
  }
  kernel.run.reset()
  return kernel
}

/** Returns a kernel that is no longer used. One that reported a fault, or lacked memory, is not used again. */
export function releaseKernel(kernel: CompactKernel): void {
  if (kernel.run.fault.value === 0 && idle.length < MAX_IDLE && kernel.run.memory.buffer.byteLength <= MAX_IDLE_BYTES)
    idle.push(kernel)
}

/** Copies bytes to the result of `reservePayload`. @returns that; 0 if memory is exhausted */
export function putPayload(kernel: CompactKernel, bytes: Uint8Array): number {
  const at = kernel.run.reservePayload(bytes.length)
  kernel.refresh()
  if (at !== 0) new Uint8Array(kernel.run.memory.buffer, at, bytes.length).set(bytes)
  return at
}

/** The same, and computes their checksum; undefined if memory is exhausted. */
export function checksumOf(kernel: CompactKernel, bytes: Uint8Array): number | undefined {
  const at = putPayload(kernel, bytes)
  return at === 0 ? undefined : kernel.run.bytesChecksum(at, bytes.length) >>> 0
}

/** The error for a fault of the kernel. */
export function faultError(fault: number, at: TracePosition): TraceError {
  return fault === NO_MEMORY
    ? limit('the trace needs more memory than there is', at)
    : malformed('a block does not contain the events that it should', at)
}

/** Copies the strings of a batch to the kernel. @returns false if memory is exhausted */
export function putStrings(kernel: CompactKernel, table: StringTable): boolean {
  const { run } = kernel
  const { bytes, starts, listed, lists } = table.flat()
  const hasRoom = run.reserveStrings(bytes.length, starts.length - 1, listed.length, lists.length - 1)
  kernel.refresh()
  if (!hasRoom) return false
  new Uint8Array(run.memory.buffer, tableAt(run, run.BYTES)).set(bytes)
  wordsAt(run, run.STARTS, starts.length).set(starts)
  wordsAt(run, run.LISTED, listed.length).set(listed)
  wordsAt(run, run.LISTS, lists.length).set(lists)
  return true
}

/** A copy of the strings of the batch that was decoded. */
export function takeStrings({ run }: CompactKernel): StringTable {
  const strings = run.stringCount.value
  if (strings === 0 && run.listCount.value === 0) return new StringTable()
  return StringTable.of({
    bytes: new Uint8Array(run.memory.buffer, tableAt(run, run.BYTES), run.byteCount.value).slice(),
    starts: wordsAt(run, run.STARTS, strings + 1).slice(),
    listed: wordsAt(run, run.LISTED, run.listedCount.value).slice(),
    lists: wordsAt(run, run.LISTS, run.listCount.value + 1).slice(),
  })
}

function wordsAt(run: CompactExports, table: Global, n: number): Uint32Array<ArrayBuffer> {
  return new Uint32Array(run.memory.buffer, tableAt(run, table), n)
}
