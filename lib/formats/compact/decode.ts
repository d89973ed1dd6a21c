import { Input, InputReader } from '../../bytes/input.js'
import { EventBatch } from '../../event/batch.js'
import { limit, malformed, truncated, type TracePosition } from '../../event/error.js'
import type { TraceHeader } from '../../event/header.js'
import type { Decoder } from '../../event/stage.js'
import { ALL_FIELDS, FieldBit } from '../../event/fields.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'
import { simulate } from './allocator.js'
import { wrongFields } from './fields.js'
import { giveGroups, GroupsFault, readGroups, type BlockGroups } from './groups.js'
import { parseHeader } from './header.js'
import * as Kernel from './kernel.js'
import type { CompactLevel } from './layout.js'
import * as Layout from './layout.js'
import { RESET_EVENTS } from './options.js'
import { lists, parseIndex, totalsAt, traceParts, type CompactStart, type Place, type Totals } from './places.js'
import { sniff } from './sniff.js'

/** The maximum memory for the strings of a batch. */
const MAX_BATCH_MEMORY = 1 << 27

/** A block with events that are left to decode. */
interface OpenBlock {
  readonly header: TraceHeader
  readonly count: number
  left: number
  readonly checksum: number
  readonly groups: BlockGroups | undefined
  /** The offset of its section. */
  readonly offset: number
}

/**
 * Compact traces to events: one file, or several one after the other.
 *
 * @throws TraceError with offset and event number, after all events of the blocks before the fault were delivered
 */
export class CompactDecoder extends InputReader implements Decoder {
  /** Whether a file is open. */
  private kernel: Kernel.CompactKernel | undefined
  private header: TraceHeader | undefined
  private headerIsNew = false
  /** The block that is being decoded. */
  private block: OpenBlock | undefined
  /** The fields of groups for the events of the next block. */
  private groups: BlockGroups | undefined
  /** Whether no trace has begun. */
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
  /** The offsets of the file and of its trace, and the places where readers can begin. */
  private fileOffset = 0
  private traceOffset = 0
  private places: Place[] = []
  private wasCut = false
  private fault: Error | undefined

  /** @param start the place at which the input begins. Default: the start of a file */
  constructor(private readonly start?: CompactStart) {
    super(new Input(start?.bytes))
    if (start === undefined) return
    this.begin()
    this.delivered = start.events
    this.traces = start.place.traces
    this.blocks = start.place.blocks
    this.events = start.place.events
    this.fileOffset = start.bytes - start.place.offset
    this.traceOffset = start.place.trace
    if (start.place.trace === start.place.offset) return
    this.isFresh = this.isFirst = false
    this.header = start.header
    this.headerIsNew = true
    this.giveHeader()
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
      if (this.wasCut && this.block === undefined) {
        this.dispose()
        if (!this.headerIsNew) return null
        this.giveHeader()
        continue
      }
      try {
        if (this.block !== undefined) this.readBlock(this.block)
        else if (!this.read()) return null
      } catch (error) {
        this.giveHeader()
        this.dispose()
        this.fault = error instanceof GroupsFault ? malformed(error.message, this.at()) : (error as Error)
      }
    }
  }

  /** @param into the offset in the section, or in the file's head, in bytes */
  private at(into = 0): TracePosition {
    return Layout.place(this.input.offset + into, this.delivered)
  }

  /** Reads a section. @returns false if more input is needed, or the input has ended */
  private read(): boolean {
    const { input } = this
    if (!this.isOpen) return this.readHead()
    if (input.left < Layout.SECTION_HEAD)
      return this.starve(input.left === 0 ? 'the end section is missing' : undefined)
    const { bytes, pos } = input
    const type = bytes[pos]
    const length = viewOf(bytes, pos).getUint32(1, true)
    if (length > Layout.MAX_BODY) throw limit(`a section of ${length} bytes`, this.at())
    const whole = Layout.SECTION_HEAD + length
    if (input.left < whole + Layout.CHECKSUM_BYTES) return this.starve()
    this.check(bytes.subarray(pos, pos + whole), viewOf(bytes, pos + whole).getUint32(0, true))
    this.open(type, bytes.subarray(pos + Layout.SECTION_HEAD, pos + whole))
    input.pos += whole + Layout.CHECKSUM_BYTES
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
    const head = input.bytes.subarray(input.pos, input.pos + Layout.HEAD_BYTES)
    if (!sniff(head)) throw malformed('the magic number of a compact trace is missing', this.at())
    if (head.length < Layout.HEAD_BYTES) return this.starve('the input ends within the magic number')
    const version = head[Layout.MAGIC.length]
    const flags = head[Layout.MAGIC.length + 1]
    if (version !== Layout.VERSION)
      throw malformed(`version ${version} is not known, only ${Layout.VERSION}`, this.at(Layout.MAGIC.length))
    if (flags !== 0) throw malformed(`flags ${flags} are not known`, this.at(Layout.MAGIC.length + 1))
    input.pos += Layout.HEAD_BYTES
    this.fileOffset = this.input.offset - Layout.HEAD_BYTES
    this.begin()
    return true
  }

  private begin(): void {
    this.hasBegun = true
    this.isOpen = true
    this.isFresh = true
    this.header = undefined
    this.sinceReset = this.traces = this.blocks = this.events = 0
    this.places = []
  }

  /** Puts a section into the kernel's memory, and compares its checksum. */
  private check(section: Uint8Array, checksum: number): void {
    const kernel = (this.kernel ??= Kernel.acquireKernel(this.start?.level ?? levelIn(section)))
    // The payload of a block begins where `reservePayload` places it.
    const found = Kernel.checksumOf(kernel, section)
    if (found === undefined) throw Kernel.faultError(Kernel.NO_MEMORY, this.at())
    if (found !== checksum) throw malformed('the checksum of a section is wrong', this.at())
  }

  private open(type: number, body: Uint8Array): void {
    const isBlock = Layout.isBlock(type)
    if (this.groups !== undefined && !isBlock) throw malformed('a block is missing', this.at())
    if (type === Layout.SECTION.trace) this.openTrace(body)
    else if (type === Layout.SECTION.groups) this.groups = readGroups(body)
    else if (isBlock) this.openBlock(body, type === Layout.SECTION.ending)
    else if (type === Layout.SECTION.checkpoint) this.openCheckpoint(body)
    else if (type === Layout.SECTION.index) this.openIndex(body)
    else if (type === Layout.SECTION.end) this.openEnd(body)
    else if ((type & Layout.CAN_BE_SKIPPED) === 0)
      throw malformed(`a section of unknown type 0x${type.toString(16).padStart(2, '0')}`, this.at())
  }

  private openTrace(body: Uint8Array): void {
    this.giveHeader()
    const parts = traceParts(body)
    if (parts === undefined || parts.header.length > Layout.MAX_HEADER)
      throw malformed(`a trace section of ${body.length} bytes`, this.at())
    const { flags, level, totals, settings, header } = parts
    if ((flags & ~Layout.FLAG_RESET) !== 0)
      throw malformed(`flags ${flags} of a trace are not known`, this.at(Layout.SECTION_HEAD))
    if (!Layout.isLevel(level)) throw malformed(`level ${level} is not known`, this.at(Layout.SECTION_HEAD + 1))
    const resets = (flags & Layout.FLAG_RESET) !== 0
    if (this.isFresh !== resets && (this.isFresh || this.sinceReset < RESET_EVENTS))
      throw malformed('the reset flag is missing or not allowed here', this.at())
    this.setLevel(level, resets)
    if (resets) this.sinceReset = 0
    this.isFresh = false
    if (!resets && settings.length !== 0) throw malformed('allocator settings without a model reset', this.at())
    if (totals !== undefined && !this.hasTotals(totals))
      throw malformed('a trace has other totals than the blocks before it', this.at())
    if (!simulate(this.kernel as Kernel.CompactKernel, settings))
      throw malformed('settings of an allocator that is not known', this.at())
    this.kernel?.refresh()
    this.header = parseHeader(header, this.at())
    this.traceOffset = this.input.offset - this.fileOffset
    if (resets) this.notePlace()
    this.traces++
    this.headerIsNew = true
    // Encoders examine the first batch of a later trace, so it must equal the trace's first block.
    if (this.isFirst) this.giveHeader()
    this.isFirst = false
  }

  /** Takes a kernel of a trace's level, and resets it unless the trace continues from its state. */
  private setLevel(level: CompactLevel, resets: boolean): void {
    const kernel = this.kernel as Kernel.CompactKernel
    if (level === kernel.level) {
      if (resets && !this.isFresh) kernel.run.reset()
      return
    }
    if (!resets) throw malformed('the level changes, and the model goes on', this.at())
    Kernel.releaseKernel(kernel)
    this.kernel = Kernel.acquireKernel(level)
  }

  /** Delivers a header that no batch has carried yet. */
  private giveHeader(): void {
    if (this.headerIsNew && this.header !== undefined) this.batches.push(new EventBatch(0, 0, this.header))
    this.headerIsNew = false
  }

  private openCheckpoint(body: Uint8Array): void {
    const { header, start } = this
    const settings = body[Layout.TOTALS_BYTES]
    const payload = Layout.CHECKPOINT_HEAD + settings
    if (header === undefined) throw malformed('a checkpoint before the first trace', this.at())
    if (body.length < payload) throw malformed(`a checkpoint of ${body.length} bytes`, this.at())
    if (!this.hasTotals(totalsAt(body, 0)))
      throw malformed('a checkpoint has other totals than the blocks before it', this.at())
    const isStart = start !== undefined && this.input.offset === start.bytes
    if (!isStart && this.sinceReset < RESET_EVENTS) throw malformed('checkpoints are too near', this.at())
    const kernel = this.kernel as Kernel.CompactKernel
    this.notePlace()
    kernel.run.reset()
    this.sinceReset = 0
    if (!simulate(kernel, body.slice(Layout.CHECKPOINT_HEAD, payload)))
      throw malformed('settings of an allocator that is not known', this.at())
    // The section is at the address that reservePayload returned.
    const isFine = body.length === payload || kernel.run.restore(Layout.SECTION_HEAD + payload, body.length - payload)
    kernel.refresh()
    if (!isFine) throw malformed('a checkpoint does not contain what it should', this.at())
  }

  /** Compares the index with the sections that were read. */
  private openIndex(body: Uint8Array): void {
    this.giveHeader()
    const { places, input } = this
    const index = parseIndex(body)
    const isRight =
      index?.offset === input.offset - this.fileOffset && lists(index.places, places, places[0]?.offset ?? Infinity)
    if (!isRight) throw malformed('the index does not match the file', this.at())
  }

  /** Notes that readers can begin with this section. */
  private notePlace(): void {
    const { traceOffset: trace, traces, blocks, events } = this
    const offset = this.input.offset - this.fileOffset
    if (this.places.length < Layout.MAX_ENTRIES) this.places.push({ offset, trace, traces, blocks, events })
  }

  /** Whether these totals equal the totals so far. */
  private hasTotals({ traces, blocks, events }: Totals): boolean {
    return traces === this.traces && blocks === this.blocks && events === this.events
  }

  /** @param isEnding whether blocks end with their process */
  private openBlock(body: Uint8Array, isEnding: boolean): void {
    const { header } = this
    if (header === undefined) throw malformed('a block before the first trace', this.at())
    if (body.length < Layout.BLOCK_HEAD) throw malformed(`a block of ${body.length} bytes`, this.at())
    const view = viewOf(body, 0)
    const count = view.getUint32(0, true)
    if (count === 0 || count > Layout.BLOCK_EVENTS) throw malformed(`a block of ${count} events`, this.at())
    const { groups } = this
    this.groups = undefined
    if (groups !== undefined && groups.count !== count)
      throw malformed('the fields of groups are those of another number of events', this.at())
    const payload = Layout.SECTION_HEAD + Layout.BLOCK_HEAD
    this.kernel?.run.beginDecoding(payload, body.length - Layout.BLOCK_HEAD, isEnding)
    this.block = { header, count, left: count, checksum: view.getUint32(4, true), groups, offset: this.input.offset }
  }

  /** Decodes the next events of a block. They are delivered before the rest is decoded, so memory stays small. */
  private readBlock(block: OpenBlock): void {
    const kernel = this.kernel as Kernel.CompactKernel
    const { run } = kernel
    const rows = run.decode(Math.min(block.left, KERNEL_EVENTS))
    kernel.refresh()
    const at = Layout.place(block.offset, this.delivered)
    if (run.fault.value !== 0) throw Kernel.faultError(run.fault.value, at)
    const batch = kernel.columns.take(rows, run.fields.value & ALL_FIELDS, block.header, Kernel.takeStrings(kernel))
    const wrong = (batch.columns & FieldBit.fields) === 0 ? undefined : wrongFields(batch)
    if (wrong !== undefined) throw malformed(`the fields of an event: ${wrong}`, at)
    if (block.groups !== undefined) giveGroups(block.groups, block.count - block.left, batch)
    if (batch.strings.memory > MAX_BATCH_MEMORY) throw limit('the strings of events take too much memory', at)
    block.left -= rows
    if (block.left === 0) {
      if (!run.isWhole() || run.eventsChecksum() >>> 0 !== block.checksum)
        throw malformed('the checksum of the events of a block is wrong', at)
      this.block = undefined
      this.blocks++
      this.events += block.count
      this.sinceReset += block.count
    }
    this.headerIsNew = false
    this.batches.push(batch)
  }

  private openEnd(body: Uint8Array): void {
    this.giveHeader()
    if (body.length !== Layout.TOTALS_BYTES) throw malformed(`an end section of ${body.length} bytes`, this.at())
    if (!this.hasTotals(totalsAt(body, 0)))
      throw malformed('traces, blocks or events are missing: the totals are others', this.at())
    this.dispose()
  }

  dispose(): void {
    this.isOpen = false
    if (this.kernel !== undefined) Kernel.releaseKernel(this.kernel)
    this.kernel = undefined
  }
}

/** The level of a section of a trace; of any other, some level. */
function levelIn(section: Uint8Array): CompactLevel {
  const level = section[Layout.SECTION_HEAD + 1]
  return Layout.isLevel(level) ? level : Layout.LEVEL.fast
}

function viewOf(bytes: Uint8Array, at: number): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + at)
}
