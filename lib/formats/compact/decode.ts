import { Input } from '../../bytes/input.js'
import { EventBatch } from '../../event/batch.js'
import { limit, malformed, truncated, type TracePosition } from '../../event/error.js'
import type { TraceHeader } from '../../event/header.js'
import type { Decoder } from '../../event/stage.js'
import { ALL_FIELDS, FieldBit } from '../../event/fields.js'
import { fieldsText } from '../../event/field-value.js'
import { parseJson } from '../../event/json.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'
import { simulate } from './allocator.js'
import { parseHeader } from './header.js'
import { acquireKernel, faultError, releaseKernel, takeStrings, type CompactKernel } from './kernel.js'
import {
  BLOCK_EVENTS,
  BLOCK_HEAD,
  CAN_BE_SKIPPED,
  CHECKSUM_BYTES,
  END_BYTES,
  FLAG_RESET,
  HEAD_BYTES,
  LEVEL,
  MAGIC,
  MAX_BODY,
  MAX_HEADER,
  place,
  RESET_EVENTS,
  SECTION,
  SECTION_HEAD,
  TRACE_HEAD,
  VERSION,
} from './layout.js'
import { sniff } from './sniff.js'

/** The memory limit for the batches of a block, because a small block can expand to very much. */
const MAX_BLOCK_MEMORY = 1 << 27

/**
 * Compact traces to events: one file, or several one after the other.
 *
 * @throws TraceError with offset and event number. All events of the blocks before the fault were delivered.
 */
export class CompactDecoder implements Decoder {
  private readonly input = new Input()
  /** While a file is open. */
  private kernel: CompactKernel | undefined
  private header: TraceHeader | undefined
  private headerIsNew = false
  /** No trace has begun. */
  private isFirst = true
  /** The batches of the block that was read, which are delivered one by one. */
  private batches: EventBatch[] = []
  private delivered = 0
  private hasBegun = false
  /** Whether a file has begun and not ended. */
  private isOpen = false
  private sinceReset = 0
  private isFresh = true
  private traces = 0
  private blocks = 0
  private events = 0
  private wasCut = false
  private fault: Error | undefined

  feed(chunk: Uint8Array): void {
    this.input.feed(chunk)
  }

  end(): void {
    this.input.ended = true
  }

  endTruncated(): void {
    this.wasCut = true
  }

  next(): EventBatch | null {
    for (;;) {
      const batch = this.batches.shift()
      if (batch !== undefined) {
        this.delivered += batch.count
        return batch
      }
      if (this.fault !== undefined) throw this.fault
      if (this.wasCut) {
        this.close()
        if (!this.headerIsNew) return null
        this.giveHeader()
        continue
      }
      try {
        if (!this.read()) return null
      } catch (error) {
        this.batches = []
        this.close()
        this.fault = error as Error
      }
    }
  }

  private at(): TracePosition {
    return place(this.input.offset, this.delivered)
  }

  /** Reads a section. @returns false if more input is needed, or the input has ended */
  private read(): boolean {
    const { input } = this
    if (!this.isOpen) return this.readHead()
    if (input.left < SECTION_HEAD) return this.starve(input.left === 0 ? 'the end section is missing' : undefined)
    const { bytes, pos } = input
    const type = bytes[pos] as number
    const length = viewOf(bytes, pos).getUint32(1, true)
    if (length > MAX_BODY) throw limit(`a section of ${length} bytes`, this.at())
    const whole = SECTION_HEAD + length
    if (input.left < whole + CHECKSUM_BYTES) return this.starve()
    this.check(bytes.subarray(pos, pos + whole), viewOf(bytes, pos + whole).getUint32(0, true))
    this.open(type, bytes.subarray(pos + SECTION_HEAD, pos + whole))
    input.pos += whole + CHECKSUM_BYTES
    return true
  }

  /** @throws TraceError if the input has ended; `reason` is the problem if it did not end within a section */
  private starve(reason = 'the input ends within a section'): false {
    if (this.input.ended) throw truncated(reason, this.at())
    return false
  }

  private readHead(): boolean {
    const { input } = this
    if (input.left === 0) {
      if (input.ended && !this.hasBegun) throw truncated('the magic number is missing', this.at())
      return false
    }
    const head = input.bytes.subarray(input.pos, input.pos + HEAD_BYTES)
    if (!sniff(head)) throw malformed('the magic number of a compact trace is missing', this.at())
    if (head.length < HEAD_BYTES) return this.starve('the input ends within the magic number')
    const version = head[MAGIC.length] as number
    const flags = head[MAGIC.length + 1] as number
    if (version !== VERSION) throw malformed(`version ${version} is not known, only ${VERSION}`, this.at())
    if (flags !== 0) throw malformed(`flags ${flags} are not known`, this.at())
    input.pos += HEAD_BYTES
    this.kernel = acquireKernel()
    this.hasBegun = true
    this.isOpen = true
    this.isFresh = true
    this.header = undefined
    this.sinceReset = this.traces = this.blocks = this.events = 0
    return true
  }

  /** Puts a section into the kernel's memory, and compares its checksum. */
  private check(section: Uint8Array, checksum: number): void {
    const kernel = this.kernel as CompactKernel
    // The payload of a block begins where `reservePayload` places it.
    const at = kernel.run.reservePayload(section.length)
    kernel.refresh()
    if (at === 0) throw faultError(2, this.at())
    new Uint8Array(kernel.run.memory.buffer, at, section.length).set(section)
    if (kernel.run.bytesChecksum(at, section.length) >>> 0 !== checksum)
      throw malformed('the checksum of a section is wrong', this.at())
  }

  private open(type: number, body: Uint8Array): void {
    if (type === SECTION.trace) this.openTrace(body)
    else if (type === SECTION.block) this.openBlock(body)
    else if (type === SECTION.end) this.openEnd(body)
    else if ((type & CAN_BE_SKIPPED) === 0)
      throw malformed(`a section of unknown type 0x${type.toString(16).padStart(2, '0')}`, this.at())
  }

  private openTrace(body: Uint8Array): void {
    this.giveHeader()
    const [flags, level, settings] = body as unknown as [number, number, number]
    if (body.length < TRACE_HEAD || body.length > TRACE_HEAD + MAX_HEADER)
      throw malformed(`a trace section of ${body.length} bytes`, this.at())
    if ((flags & ~FLAG_RESET) !== 0) throw malformed(`flags ${flags} of a trace are not known`, this.at())
    if (level !== LEVEL.fast) throw malformed(`level ${level} is not known`, this.at())
    const resets = (flags & FLAG_RESET) !== 0
    if (this.isFresh !== resets && (this.isFresh || this.sinceReset < RESET_EVENTS))
      throw malformed('a trace forgets too much, or too little', this.at())
    if (resets && !this.isFresh) this.kernel?.run.reset()
    if (resets) this.sinceReset = 0
    this.isFresh = false
    this.traces++
    if (!resets && settings !== 0) throw malformed('an allocator begins without the model', this.at())
    if (
      TRACE_HEAD + settings > body.length ||
      !simulate(this.kernel as CompactKernel, body.slice(TRACE_HEAD, TRACE_HEAD + settings))
    )
      throw malformed('settings of an allocator that is not known', this.at())
    this.kernel?.refresh()
    this.header = parseHeader(body.subarray(TRACE_HEAD + settings), this.at())
    this.headerIsNew = true
    // Encoders examine the first batch of a later trace, so it must be that of its first block.
    if (this.isFirst) this.giveHeader()
    this.isFirst = false
  }

  /** Delivers a header that no batch has carried yet. */
  private giveHeader(): void {
    if (this.headerIsNew && this.header !== undefined) this.batches.push(new EventBatch(0, 0, this.header))
    this.headerIsNew = false
  }

  private openBlock(body: Uint8Array): void {
    const { header } = this
    if (header === undefined) throw malformed('a block before the first trace', this.at())
    if (body.length < BLOCK_HEAD) throw malformed(`a block of ${body.length} bytes`, this.at())
    const view = viewOf(body, 0)
    const count = view.getUint32(0, true)
    if (count === 0 || count > BLOCK_EVENTS) throw malformed(`a block of ${count} events`, this.at())
    const kernel = this.kernel as CompactKernel
    const { run } = kernel
    run.beginDecoding(SECTION_HEAD + BLOCK_HEAD, body.length - BLOCK_HEAD)
    let memory = 0
    for (let left = count; left > 0;) {
      const rows = run.decode(Math.min(left, KERNEL_EVENTS))
      kernel.refresh()
      if (run.fault.value !== 0) throw faultError(run.fault.value, this.at())
      const batch = this.take(kernel, rows, header)
      memory += batch.strings.memory + 64 * rows
      if (memory > MAX_BLOCK_MEMORY) throw limit('the strings of a block take too much memory', this.at())
      this.batches.push(batch)
      left -= rows
    }
    if (!run.isWhole() || run.eventsChecksum() >>> 0 !== view.getUint32(4, true))
      throw malformed('the checksum of the events of a block is wrong', this.at())
    this.headerIsNew = false
    this.blocks++
    this.events += count
    this.sinceReset += count
  }

  private take(kernel: CompactKernel, rows: number, header: TraceHeader): EventBatch {
    const batch = kernel.columns.take(rows, kernel.run.fields.value & ALL_FIELDS, header, takeStrings(kernel))
    const wrong = (batch.columns & FieldBit.fields) === 0 ? undefined : wrongFields(batch)
    if (wrong !== undefined) throw malformed(`the fields of an event: ${wrong}`, this.at())
    return batch
  }

  private openEnd(body: Uint8Array): void {
    this.giveHeader()
    if (body.length !== END_BYTES) throw malformed(`an end section of ${body.length} bytes`, this.at())
    const view = viewOf(body, 0)
    const totals = [this.traces, this.blocks, this.events]
    if (totals.some((total, i) => view.getBigUint64(8 * i, true) !== BigInt(total)))
      throw malformed('traces, blocks or events are missing: the totals are others', this.at())
    this.close()
  }

  private close(): void {
    this.isOpen = false
    if (this.kernel !== undefined) releaseKernel(this.kernel)
    this.kernel = undefined
  }
}

/** Why the text of some event's `fields` is invalid, or undefined. Each text is checked once. */
function wrongFields({ count, mask, fields, strings }: EventBatch): string | undefined {
  const seen = new Uint8Array(strings.size)
  for (let i = 0; i < count; i++) {
    const id = fields[i] as number
    if (((mask[i] as number) & FieldBit.fields) === 0 || seen[id] === 1) continue
    seen[id] = 1
    try {
      fieldsText('fields', parseJson(strings.text(id)))
    } catch (error) {
      return (error as Error).message
    }
  }
  return undefined
}

function viewOf(bytes: Uint8Array, at: number): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + at)
}
