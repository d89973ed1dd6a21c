import * as Code from '../../kernel/layouts/hatf.js'
import type { Input } from '../../bytes/input.js'
import { Cursor, type Reading } from '../../codec/cursor.js'
import { CursorDecoder } from '../../codec/cursor-decoder.js'
import { BATCH_STRING_BYTES, EventBatch } from '../../event/batch.js'
import { malformed, truncated } from '../../event/error.js'
import { FieldBit, Kind, STRING_FIELDS } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import { StringTable } from '../../event/strings.js'
import { copyEvents } from './copy-events.js'
import { COMMENT_MARK, EXTRA_FIELDS_MARK, hasMark, parseHeaderComment } from './extra-fields.js'
import { ExtraFieldsReader } from './extra-fields-read.js'
import { faultOf, hatfKernel, KernelState } from './kernel.js'
import { MAX_RECORD_BYTES } from './layout.js'

export interface HatfDecodeOptions {
  /** Remove the alloc and free records that are part of a realloc, so that they do not count twice. Default true. */
  fold?: boolean
}

/** The names of these options. */
export const DECODE_OPTIONS: OptionNames<HatfDecodeOptions> = { fold: 'boolean' }

const { attributes: HAS_ATTRIBUTES, text: HAS_TEXT, thread: HAS_THREAD } = FieldBit

/** The reason why `fill` stopped. */
const USED_UP = Code.USED_UP
const FULL = Code.FULL
const NEW_HEADER = 2
const FAULT = 3
/** It did not stop. */
const GO_ON = -1

/** Reads HATF 1.0, with or without the additions of `HatfEncoder`'s option `attributes`. */
export class HatfDecoder extends CursorDecoder {
  constructor(options: HatfDecodeOptions = {}) {
    checkOptions(options, DECODE_OPTIONS, 'HatfDecoder')
    super(new Cursor('hatf'), (cursor) => new RecordReader(cursor, options.fold ?? true).read())
  }

  /** The number of bytes of complete records read so far. */
  get consumed(): number {
    return this.cursor.input.offset
  }
}

/** Reads records, and holds back events that may still prove to be part of a later realloc. */
class RecordReader {
  private readonly input: Input
  private readonly kernel = hatfKernel()
  private readonly state = new KernelState(this.kernel)
  private readonly extras = new ExtraFieldsReader()
  private header: TraceHeader = { format: 'hatf' }
  /** The header found in a comment. */
  private nextHeader: TraceHeader | undefined
  /** Whether the header has not been delivered yet. If no event follows, an empty batch delivers it at the end. */
  private owesHeader = false
  private hasGiven = false
  /** Events that were read, but may still prove to be part of a later realloc. */
  private held: EventBatch | undefined
  /** The number of events in the kernel's columns, and the union of their fields. */
  private count = 0
  private fields = 0
  /** The strings of those events, if they have any. */
  private strings: StringTable | undefined
  /** The kernel's columns as a batch, where single events are completed. */
  private view: EventBatch | undefined
  /** A record is at fault; the error is thrown once all events before it have been delivered. */
  private fault: { make: typeof malformed; reason: string; offset: number } | undefined
  private isOver = false

  constructor(
    private readonly cursor: Cursor,
    private readonly fold: boolean,
  ) {
    this.input = cursor.input
  }

  /** @throws TraceError when a record is malformed, or the stream ends inside one */
  *read(): Reading {
    const { cursor, input } = this
    if (input.left === 0) yield* cursor.more()
    while (!this.isOver) {
      this.open()
      const stop = this.fill()
      const given = this.close(stop)
      if (given !== null) yield given
      if (this.fault !== undefined)
        throw this.fault.make(this.fault.reason, { ...cursor.here(), offset: this.fault.offset })
      if (stop === USED_UP) yield* cursor.more()
      // Only the events that were held back remain to be delivered.
      if (cursor.isCut) input.skip(input.left)
    }
  }

  /** Copies the state and the held-back events to the kernel. */
  private open(): void {
    this.state.put()
    this.strings = undefined
    this.view = undefined
    this.count = 0
    this.fields = 0
    let { held } = this
    if (held === undefined) return
    if ((held.columns & STRING_FIELDS) !== 0) {
      // Batches do not share strings. Otherwise the strings of the previous batch would be kept for these few events.
      const { strings } = this.target()
      const carried = new EventBatch(held.count, held.columns, this.header, strings)
      copyEvents(held, carried)
      held = carried
    }
    this.kernel.columns.put(held, 0, held.count)
    this.count = held.count
    for (let i = 0; i < held.count; i++) this.fields |= held.mask[i]
    this.held = undefined
  }

  /** Decides how many of the events read are delivered, and updates the state for the rest. */
  private close(stop: number): EventBatch | null {
    const { count, kernel } = this
    this.state.take()
    const isEnd = stop === USED_UP && this.input.ended
    if (isEnd) {
      this.isOver = true
      if (this.input.left > 0 && !this.cursor.isCut) this.fail(truncated, 'the stream ends inside a record')
    }
    const first = this.fold && !isEnd && stop <= FULL ? kernel.run.firstHeld(count) : count
    const isHeaderDue = this.owesHeader && stop !== USED_UP && stop !== FULL
    const isLastChance = isEnd && (this.owesHeader || (!this.hasGiven && this.fault === undefined))
    let given: EventBatch | null = null
    if (first > 0 || isHeaderDue || isLastChance) {
      given = kernel.columns.take(first, this.fields, this.header, this.strings)
      this.hasGiven = true
      this.owesHeader = false
    }
    if (first < count)
      this.held = kernel.columns.take(count - first, this.fields | HAS_THREAD, this.header, this.strings, first)
    if (stop === NEW_HEADER) {
      this.header = this.nextHeader as TraceHeader
      this.owesHeader = true
    }
    return given
  }

  /** Reads records until the input is used up, the batch is full, or something needs attention outside the kernel. */
  private fill(): number {
    const { input } = this
    const { run, input: window } = this.kernel
    for (;;) {
      const { left } = input
      const from = window.load(input, input.end, MAX_RECORD_BYTES)
      const { end } = window
      const stop = run.decode(from, end, this.count, this.fields, this.fold)
      const pos = input.pos - from
      const read = run.position.value - from
      this.count = run.events.value
      this.fields = run.fields.value
      switch (stop) {
        case Code.USED_UP:
          input.skip(read)
          if (end - from === left) return USED_UP
          break
        case Code.FULL:
          input.skip(read)
          return FULL
        case Code.COMMENT:
        case Code.HAS_DATA: {
          const after = (stop === Code.COMMENT ? this.readComment : this.readAttributes).call(
            this,
            pos + run.dataFrom.value,
            pos + run.dataTo.value,
          )
          input.skip(read)
          if (after !== GO_ON) return after
          break
        }
        default:
          input.skip(read)
          return this.fail(malformed, faultOf(run, stop))
      }
    }
  }

  /** The kernel's columns, to complete an event in. */
  private target(): EventBatch {
    return (this.view ??= this.kernel.columns.view((this.strings = new StringTable())))
  }

  /** Reads the attributes of the last event. */
  private readAttributes(start: number, end: number): number {
    const { extras } = this
    const { bytes } = this.input
    const target = this.target()
    const row = this.count - 1
    const set = target.mask[row]
    if (hasMark(bytes, start, end, EXTRA_FIELDS_MARK) && extras.readAttributes(bytes, start, end, target, row)) {
      target.mask[row] = (set & ~extras.without) | extras.set
      if (extras.kind >= 0) target.kind[row] = extras.kind
    } else {
      target.attributes[row] = target.strings.intern(bytes, start, end)
      target.mask[row] = set | HAS_ATTRIBUTES
    }
    this.fields |= target.mask[row]
    if (this.fold) this.count = this.kernel.run.settle(this.count, this.fields)
    return this.fullOrOn(target)
  }

  private readComment(start: number, end: number): number {
    const { extras } = this
    const { bytes } = this.input
    if (hasMark(bytes, start, end, COMMENT_MARK)) {
      this.nextHeader = parseHeaderComment(bytes, start, end)
      if (this.nextHeader !== undefined) return NEW_HEADER
    }
    const target = this.target()
    const row = this.count++
    if (hasMark(bytes, start, end, COMMENT_MARK) && extras.readComment(bytes, start, end, target, row)) {
      target.kind[row] = extras.kind
      target.mask[row] = extras.set
    } else {
      target.kind[row] = Kind.comment
      target.mask[row] = HAS_TEXT
      target.text[row] = target.strings.add(bytes, start, end)
    }
    this.fields |= target.mask[row]
    return this.fullOrOn(target)
  }

  private fullOrOn({ strings }: EventBatch): number {
    return strings.byteLength > BATCH_STRING_BYTES ? FULL : GO_ON
  }

  /** Records a fault at `input.pos`, thrown once all events before it have been delivered. */
  private fail(make: typeof malformed, reason: string): typeof FAULT {
    this.fault = { make, reason, offset: this.input.offset }
    return FAULT
  }
}
