import { Input } from '../../bytes/input.js'
import { BATCH_EVENTS, EventBatch } from '../../event/batch.js'
import { describe, malformed, truncated, type TracePosition } from '../../event/error.js'
import type { TraceHeader } from '../../event/header.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import type { Decoder } from '../../event/stage.js'
import { KERNEL_INPUT } from '../../kernel/input.js'
import { FAULT, FULL, MARK, SHORT } from '../../kernel/layouts/mtrc.js'
import { failure, mtrcKernel, stringsOf, tooManyBlocks, type MtrcKernel } from './kernel.js'
import { FORMAT, hasSources, headerLength, MAGIC, readHeader, RECORD, type MtrcLayout } from './layout.js'

/** Options of the decoder. */
export interface MtrcDecodeOptions {
  /**
   * Give frees and reallocations the address and size of the block that their index refers to. Costs memory in
   * proportion to the blocks that are live at once. Default true.
   */
  resolve?: boolean
}

const OPTIONS: OptionNames<MtrcDecodeOptions> = { resolve: 'boolean' }

/** At most this many warnings are kept. */
const MAX_WARNINGS = 100

/** mpatrol tracing output to events: the bytes of one or more traces, concatenated. */
export class MtrcDecoder implements Decoder {
  /** Reports where a trace ends without an end marker because another one begins. */
  readonly warnings: string[] = []
  private readonly input = new Input()
  private readonly resolve: boolean
  /** Exists once a trace has begun; it keeps the live blocks and the names. */
  private kernel: MtrcKernel | undefined
  private header: TraceHeader | undefined
  /** No batch has carried this header yet. */
  private headerIsNew = false
  /** Why the kernel stopped. */
  private stop: number = SHORT
  private batch: EventBatch | undefined
  /** The number of events delivered, in the whole stream. */
  private delivered = 0
  /** The rest of the input is an incomplete record. */
  private starved = false
  private wasCut = false
  private fault: Error | undefined

  constructor(options: MtrcDecodeOptions = {}) {
    checkOptions(options, OPTIONS, 'MtrcDecoder')
    this.resolve = options.resolve ?? true
  }

  feed(chunk: Uint8Array): void {
    this.input.feed(chunk)
    this.starved = false
  }

  end(): void {
    this.input.ended = true
    this.starved = false
  }

  endTruncated(): void {
    this.wasCut = true
  }

  dispose(): void {
    this.kernel?.dispose()
  }

  detach(): void {
    this.input.detach()
  }

  next(): EventBatch | null {
    if (this.fault === undefined && !this.starved && !this.wasCut) this.read()
    const { batch } = this
    if (batch !== undefined && (batch.count > 0 || this.headerIsNew)) {
      this.batch = undefined
      this.headerIsNew = false
      this.delivered += batch.count
      return batch
    }
    if (this.fault !== undefined) throw this.fault
    return null
  }

  /** Reads until there are events or the available input is used up. */
  private read(): void {
    const { input } = this
    for (;;) {
      if (this.header === undefined) {
        this.readFirstHeader()
        if (this.header === undefined) return
      }
      if (input.left > 0 && input.next === RECORD.mark) {
        if (this.headerIsNew) {
          this.batch = new EventBatch(0, 0, this.header)
          return
        }
        if (!this.readMark()) return
        continue
      }
      if (input.left === 0 && !this.headerIsNew) return this.starve('the end marker is missing')
      const kernel = this.kernel as MtrcKernel
      const batch = (this.batch = this.readRecords(kernel, this.header))
      const { stop } = this
      if (stop === SHORT) this.starve(input.left === 0 ? 'the end marker is missing' : 'the input ends within a record')
      if (stop !== MARK || batch.count > 0 || this.headerIsNew) return
    }
  }

  /** Reads records up to the end of the input, the batch or the trace, or to a fault. */
  private readRecords(kernel: MtrcKernel, header: TraceHeader): EventBatch {
    const { input } = this
    const { run } = kernel
    let from = kernel.input.load(input)
    let isWhole = kernel.input.end - from === input.left
    let count = run.decode(from, kernel.input.end, BATCH_EVENTS)
    if (count === 0 && run.stop.value === SHORT && !isWhole) {
      // The record is a long one, of which the kernel had only the beginning.
      kernel.refresh()
      from = kernel.input.load(input, input.end, KERNEL_INPUT)
      isWhole = kernel.input.end - from === input.left
      count = run.decode(from, kernel.input.end, BATCH_EVENTS)
    }
    kernel.refresh()
    input.skip(run.position.value - from)
    this.stop = run.stop.value === SHORT && !isWhole ? FULL : run.stop.value
    if (this.stop === FAULT) this.fault = failure(run.fault.value, input.next, this.here(count))
    const strings = stringsOf(kernel)
    if (strings === undefined) {
      this.fault = tooManyBlocks(this.here(0))
      return new EventBatch(0, 0, header)
    }
    return kernel.columns.take(count, run.fields.value, header, strings)
  }

  private readFirstHeader(): void {
    const { input } = this
    const layout = readHeader(input.bytes, input.pos, input.end)
    if (layout === 'bad') this.fault = malformed('not the header of a trace', this.here(0))
    else if (layout === 'short')
      this.starve(input.left === 0 ? 'the input is empty' : 'the input ends within the header')
    else this.beginTrace(layout, headerLength(layout))
  }

  /**
   * Reads an end marker, or the header of the next trace after or instead of it.
   * @returns whether a trace began
   */
  private readMark(): boolean {
    const { input } = this
    const { bytes, pos, end } = input
    const inPlace = readHeader(bytes, pos, end)
    if (typeof inPlace === 'object') {
      this.warn('the trace has no end marker: another one begins here')
      this.beginTrace({ ...inPlace, follows: 'cut' }, headerLength(inPlace))
      return true
    }
    if (inPlace === 'short') {
      // An end marker that nothing follows is complete.
      if (!(input.ended && input.left === MAGIC.length)) this.starve('the input ends within the end marker or a header')
      return false
    }
    if (MAGIC.some((byte, i) => bytes[pos + i] !== byte)) {
      this.fault = malformed('a record of unknown type 0x4d', this.here(0))
      return false
    }
    const behind = readHeader(bytes, pos + MAGIC.length, end)
    if (typeof behind === 'object') {
      this.beginTrace(behind, MAGIC.length + headerLength(behind))
      return true
    }
    if (behind === 'short') {
      this.starve('the input ends within the header of another trace')
    } else {
      input.pos += MAGIC.length
      this.fault = malformed('unexpected data after the end marker', this.here(0))
    }
    return false
  }

  private beginTrace(layout: MtrcLayout, length: number): void {
    this.input.pos += length
    this.header = { format: FORMAT, layout: { ...layout } }
    this.headerIsNew = true
    this.batch = undefined
    this.kernel ??= mtrcKernel()
    this.kernel.run.begin(hasSources(layout), this.resolve, false)
    this.kernel.refresh()
  }

  /** Nothing more can be read until more input arrives; at the end of the input, that is a fault. */
  private starve(reason: string): void {
    this.starved = true
    if (this.input.ended) this.fault = truncated(reason, this.here(this.batch?.count ?? 0))
  }

  private warn(text: string): void {
    const { warnings } = this
    if (warnings.length < MAX_WARNINGS - 1) warnings.push(`${describe(this.here(0))}: ${text}`)
    else if (warnings.length < MAX_WARNINGS)
      warnings.push(`${describe(this.here(0))}: ${text}; further ones are not told`)
  }

  /** The place of the event after those delivered and `pending` more. */
  private here(pending: number): TracePosition {
    return { format: FORMAT, offset: this.input.offset, event: this.delivered + pending + 1 }
  }
}
