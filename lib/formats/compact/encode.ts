import { recognize } from '../../allocators/recognize.js'
import { Sink } from '../../bytes/sink.js'
import type { EventBatch } from '../../event/batch.js'
import { limit, type TracePosition } from '../../event/error.js'
import { STRING_FIELDS } from '../../event/fields.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import { ENCODE_OPTIONS, type EncodeOptions } from '../../event/format.js'
import { hasInventedAddresses, NO_HEADER, type TraceHeader } from '../../event/header.js'
import type { Encoder } from '../../event/stage.js'
import type { StringTable } from '../../event/strings.js'
import { Losses } from '../../kernel/losses.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'
import { settingsBytes, simulate } from './allocator.js'
import { headerText } from './header.js'
import { GroupWriter } from './groups.js'
import { HeldEvents } from './held.js'
import * as Kernel from './kernel.js'
import type { CompactLevel } from './layout.js'
import * as Layout from './layout.js'
import { CHECKPOINT, distanceOf, ONE_LEVEL, RESET_EVENTS } from './options.js'
import { indexBody, totalsBytes, type Place, type Totals } from './places.js'

const OPTIONS: OptionNames<CompactEncodeOptions> = {
  ...ENCODE_OPTIONS,
  level: ONE_LEVEL,
  fast: 'boolean',
  best: 'boolean',
  checkpoint: CHECKPOINT,
}

const text = new TextEncoder()
const NOTHING = new Uint8Array(0)

/** The minimum number of allocations needed to recognize the allocator. */
const FEW_ALLOCATIONS = 32

export interface CompactEncodeOptions extends EncodeOptions {
  /** The level of the model: 1 is fast; 2, the default, takes a third fewer bytes and three times as long. */
  level?: CompactLevel
  /** The same as level 1. */
  fast?: boolean
  /** The same as level 2. */
  best?: boolean
  /**
   * Write a checkpoint after each such number of events, at least 4096, and an index, so that readers can begin there.
   * A text may end in K or M, for 1024 and 1,048,576 events. Default: none.
   */
  checkpoint?: number | string
}

/** The number of events with fields of groups that are written at a time. Long values of these fields end the block. */
const GROUP_EVENTS = 64

/**
 * Writes events as a compact trace. It holds back up to 65,536 events, which are a block.
 *
 * @throws TraceError when a header or a name is longer than the format can represent
 * @throws RangeError when the options name no level
 */
export class CompactEncoder implements Encoder {
  readonly losses: Losses
  readonly consumes = true
  private readonly level: CompactLevel
  /** Whether a file was begun and not ended. */
  private own: Kernel.CompactKernel | undefined
  private readonly sink = new Sink(4096)
  private header: TraceHeader | undefined
  /** The first events of the trace, held until the allocator is recognized. */
  private held: HeldEvents | undefined
  private strings: StringTable | undefined
  private stringCount = 0
  private listCount = 0
  private readonly groups = new GroupWriter()
  /** The numbers of events of the block, since the last reset of the model, and in total. */
  private inBlock = 0
  private sinceReset = 0
  private traces = 0
  private blocks = 0
  private events = 0
  /** The number of events between checkpoints; Infinity without checkpoints. */
  private readonly distance: number
  /** The number of bytes written, the offset of the trace, and the places where readers can begin. */
  private written = 0
  private traceOffset = 0
  private readonly places: Place[] = []
  /** The settings of the simulated allocator. */
  private settings: Uint8Array = NOTHING
  private fault: Error | undefined

  constructor(options: CompactEncodeOptions = {}) {
    checkOptions(options, OPTIONS, 'CompactEncoder')
    this.distance = options.checkpoint === undefined ? Infinity : distanceOf(options.checkpoint)
    this.level = options.level ?? (options.fast === true ? Layout.LEVEL.fast : Layout.LEVEL.best)
    this.losses = Losses.ofAll(Layout.FORMAT, Layout.CARRIED, options.strict)
  }

  feed(batch: EventBatch): void {
    this.losses.countBatch(batch)
    this.attempt(() => {
      if (batch.header !== this.header) this.beginTrace(batch.header)
      const held = this.held?.take(batch) ?? 0
      if (this.held?.isFull === true) this.settle()
      if (held < batch.count) this.write(batch, held)
    })
  }

  next(): Uint8Array | null {
    if (this.sink.pos > 0) return this.sink.handOver()
    if (this.fault !== undefined) throw this.fault
    return null
  }

  end(): void {
    this.attempt(() => {
      if (this.header === undefined) this.beginTrace(NO_HEADER)
      this.settle()
      this.endBlock()
      if (this.distance !== Infinity) this.section(Layout.SECTION.index, indexBody(this.places, this.written))
      this.section(Layout.SECTION.end, totalsBytes(this.totals))
    })
    this.dispose()
  }

  endTruncated(): void {
    this.attempt(() => {
      this.settle()
      this.endBlock()
    })
    this.dispose()
  }

  /** Runs a step that may fail, unless an earlier one failed. Output is delivered before the error. */
  private attempt(write: () => void): void {
    if (this.fault !== undefined) return
    try {
      write()
    } catch (error) {
      this.fault = error as Error
    }
  }

  private get totals(): Totals {
    const { traces, blocks, events } = this
    return { traces, blocks, events }
  }

  /** The position of the next event, for errors. */
  private get at(): TracePosition {
    return { format: Layout.FORMAT, event: this.events + 1 }
  }

  private get kernel(): Kernel.CompactKernel {
    return (this.own ??= Kernel.acquireKernel(this.level))
  }

  dispose(): void {
    if (this.own !== undefined) Kernel.releaseKernel(this.own)
    this.own = undefined
  }

  private beginTrace(header: TraceHeader): void {
    if (this.header === undefined) {
      this.sink.append(Layout.MAGIC)
      this.sink.append(Uint8Array.of(Layout.VERSION, 0))
      this.written = Layout.MAGIC.length + 2
    }
    this.settle()
    this.endBlock()
    const description = text.encode(headerText(header))
    if (description.length > Layout.MAX_HEADER) throw limit(`a header of more than ${Layout.MAX_HEADER} bytes`, this.at)
    const resets = this.header === undefined || this.sinceReset >= RESET_EVENTS
    if (resets && this.header !== undefined) {
      this.kernel.run.reset()
      this.strings = undefined
    }
    if (resets) this.sinceReset = 0
    this.header = header
    this.traces++
    if (resets) this.held = new HeldEvents()
    else this.writeTrace(0, NOTHING, description)
  }

  /** Chooses how to write the events that were held back, and writes them. */
  private settle(): void {
    const { header, held } = this
    if (held === undefined || header === undefined) return
    this.held = undefined
    const isFutile = held.allocations < FEW_ALLOCATIONS || hasInventedAddresses(header)
    this.settings = settingsBytes(isFutile ? undefined : recognize(held.batches, false)[0]?.settings)
    this.writeTrace(Layout.FLAG_RESET, this.settings, text.encode(headerText(header)))
    this.simulate(this.settings)
    for (const batch of held.batches) this.write(batch, 0)
  }

  private writeTrace(flags: number, settings: Uint8Array, description: Uint8Array): void {
    const before = { ...this.totals, traces: this.traces - 1 }
    this.traceOffset = this.written
    let totals: Uint8Array = NOTHING
    if ((flags & Layout.FLAG_RESET) !== 0) {
      this.notePlace(before)
      totals = totalsBytes(before)
    }
    const head = Uint8Array.of(flags, this.level, settings.length)
    this.section(Layout.SECTION.trace, head, totals, settings, description)
  }

  private write(batch: EventBatch, first: number): void {
    const { kernel } = this
    this.put(batch)
    for (let from = first; from < batch.count; from += KERNEL_EVENTS) {
      const rows = Math.min(KERNEL_EVENTS, batch.count - from)
      kernel.columns.put(batch, from, from + rows)
      for (let row = 0; row < rows;) {
        if (this.sinceReset >= this.distance) this.checkpoint(batch)
        if (this.inBlock === 0) kernel.run.beginEncoding()
        let most = rows
        if (batch.groups !== undefined) {
          most = row + GroupWriter.fitting(batch, from + row, Math.min(GROUP_EVENTS, rows - row))
          if (most === row) this.refuse()
        }
        const to = Math.min(most, row + Layout.BLOCK_EVENTS - this.inBlock, row + this.distance - this.sinceReset)
        const end = kernel.run.encode(row, to)
        kernel.refresh()
        this.groups.add(batch, from + row, end - row)
        this.inBlock += end - row
        this.events += end - row
        this.sinceReset += end - row
        row = end
        if (kernel.run.fault.value !== 0) this.refuse(kernel.run.fault.value)
        if (this.inBlock === Layout.BLOCK_EVENTS || end < to || this.groups.isFull) this.endBlock()
      }
    }
  }

  /**
   * @param fault of the kernel, if it has one
   * @throws TraceError for the next event, which cannot be written; those before it are in a block
   */
  private refuse(fault?: number): never {
    if (fault === Kernel.NO_MEMORY) throw Kernel.faultError(fault, this.at)
    // Readers ignore the bytes that were written of that event.
    this.endBlock()
    const { MAX_NAME, MAX_FRAMES, MAX_NEW_NAMES } = Layout
    const most = `a name has at most ${MAX_NAME} bytes, a stack ${MAX_FRAMES} frames, a block ${MAX_NEW_NAMES} bytes`
    throw limit(`the new names of an event: ${most}`, this.at)
  }

  /** Copies the batch's strings to the kernel, unless it has them. */
  private put({ columns, strings }: EventBatch): void {
    if ((columns & STRING_FIELDS) === 0) return
    if (strings === this.strings && strings.size === this.stringCount && strings.listCount === this.listCount) return
    this.strings = strings
    this.stringCount = strings.size
    this.listCount = strings.listCount
    if (!Kernel.putStrings(this.kernel, strings)) throw Kernel.faultError(Kernel.NO_MEMORY, this.at)
  }

  private endBlock(): void {
    if (this.inBlock === 0) return
    const { kernel } = this
    const { run } = kernel
    const length = run.endWriting()
    kernel.refresh()
    const head = new DataView(new ArrayBuffer(Layout.BLOCK_HEAD))
    head.setUint32(0, this.inBlock, true)
    head.setUint32(4, run.eventsChecksum() >>> 0, true)
    const payload = new Uint8Array(run.memory.buffer, run.payloadStart(), length).slice()
    this.inBlock = 0
    this.blocks++
    const groups = this.groups.take()
    if (groups !== undefined) this.section(Layout.SECTION.groups, groups)
    const type = run.hasEnds.value === 0 ? Layout.SECTION.block : Layout.SECTION.ending
    this.section(type, new Uint8Array(head.buffer), payload)
  }

  /** Notes that readers can begin with the next section. */
  private notePlace(before: Totals): void {
    const { written: offset, traceOffset: trace } = this
    if (this.places.length < Layout.MAX_ENTRIES) this.places.push({ offset, trace, ...before })
  }

  /**
   * Writes a checkpoint, after which the model only knows what the checkpoint has.
   * @param batch the batch whose events follow
   */
  private checkpoint(batch: EventBatch): void {
    this.endBlock()
    const { kernel } = this
    const settings = kernel.run.isSimulating.value === 0 ? NOTHING : this.settings
    const length = kernel.run.save()
    kernel.refresh()
    const kept = new Uint8Array(kernel.run.memory.buffer, kernel.run.payloadStart(), length).slice()
    const fits = Layout.CHECKPOINT_HEAD + settings.length + length <= Layout.MAX_BODY
    const payload = fits && this.forget(settings, kept) ? kept : NOTHING
    if (payload.length < length) this.forget(settings, payload)
    this.notePlace(this.totals)
    this.section(Layout.SECTION.checkpoint, totalsBytes(this.totals), Uint8Array.of(settings.length), settings, payload)
    this.sinceReset = 0
    this.strings = undefined
    this.put(batch)
  }

  /** Resets the model to the kept state. @returns false if that state cannot be read: then nothing is kept */
  private forget(settings: Uint8Array, kept: Uint8Array): boolean {
    const { kernel } = this
    kernel.run.reset()
    this.simulate(settings)
    if (kept.length === 0) return true
    if (Kernel.putPayload(kernel, kept) === 0) throw Kernel.faultError(Kernel.NO_MEMORY, this.at)
    const isFine = Boolean(kernel.run.restore(0, kept.length))
    kernel.refresh()
    return isFine
  }

  /** Begins the simulation of an allocator. @throws TraceError without memory: readers have some, and simulate it */
  private simulate(settings: Uint8Array): void {
    const isFine = simulate(this.kernel, settings)
    this.kernel.refresh()
    if (!isFine) throw Kernel.faultError(Kernel.NO_MEMORY, this.at)
  }

  /** Writes a section, whose body is these parts. */
  private section(type: number, ...parts: readonly Uint8Array[]): void {
    const body = parts.reduce((sum, part) => sum + part.length, 0)
    if (body > Layout.MAX_BODY) throw limit(`a section of ${body} bytes`, this.at)
    const bytes = new Uint8Array(Layout.SECTION_HEAD + body + Layout.CHECKSUM_BYTES)
    const view = new DataView(bytes.buffer)
    bytes[0] = type
    view.setUint32(1, body, true)
    let to = Layout.SECTION_HEAD
    for (const part of parts) {
      bytes.set(part, to)
      to += part.length
    }
    const checksum = Kernel.checksumOf(this.kernel, bytes.subarray(0, to))
    if (checksum === undefined) throw Kernel.faultError(Kernel.NO_MEMORY, this.at)
    view.setUint32(to, checksum, true)
    this.sink.append(bytes)
    this.written += bytes.length
  }
}
