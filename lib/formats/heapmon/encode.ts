import { LF, MINUS, SPACE, TAB, ZERO, ascii } from '../../text/ascii.js'
import { HI, isZero, LO, WORD, writeDecimal, writeHex } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { Api, APIS, FieldBit, Kind } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import { AddressedLosses } from '../../blocks/addressed-losses.js'
import type { Losses } from '../../kernel/losses.js'
import { ENCODE_OPTIONS, type EncodeOptions } from '../../event/format.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import { LineEncoder, put } from '../../text/line-encoder.js'
import { Parts, reallocParts } from '../../blocks/realloc.js'
import type { HeapmonLayout } from './layout.js'
import * as Layout from './layout.js'
import { Names, type Name } from './names.js'

const { alloc: ALLOC, existing: EXISTING, realloc: REALLOC, free: FREE } = Kind
const { new: NEW_API, delete: DELETE_API } = Api

const { api: HAS_API, process: HAS_PROCESS, thread: HAS_THREAD, time: HAS_TIME, address: HAS_ADDRESS } = FieldBit
const { oldAddress: HAS_OLD_ADDRESS, size: HAS_SIZE, function: HAS_FUNCTION, type: HAS_TYPE } = FieldBit
const { stack: HAS_STACK } = FieldBit

const LETTER_X = 0x78
const [THREAD_WIDTH, TIME_WIDTH, ADDRESS_WIDTH, SIZE_WIDTH, TYPE_WIDTH] = Layout.WIDTHS
/** An upper bound for a line without its type and its stack. */
const MAX_NUMBERS = 512

export interface HeapmonEncodeOptions extends EncodeOptions {
  /** Write a header row even if the input had none. Default false. */
  headerRow?: boolean
  /** The column separator; by default the one of the file that the trace was read from, or a tab. */
  separator?: HeapmonLayout['separator']
}

const OPTIONS: OptionNames<HeapmonEncodeOptions> = {
  ...ENCODE_OPTIONS,
  headerRow: 'boolean',
  separator: ['tab', 'spaces'],
}

/** Encodes events as heap monitoring text in canonical form. */
export class HeapmonEncoder extends LineEncoder {
  readonly losses: Losses
  private readonly names = new Names()
  private layout = Layout.DEFAULT_LAYOUT
  private tabs = true
  private header: TraceHeader | undefined
  /** The event's time in microseconds. */
  private timeLo = 0
  private timeHi = 0

  constructor(private readonly options: HeapmonEncodeOptions = {}) {
    checkOptions(options, OPTIONS, 'HeapmonEncoder')
    super()
    this.losses = new AddressedLosses(FieldBit.process, Layout.NAME, Layout.CARRIED, options.strict, Layout.FILLED)
    this.losses.useUnit('us')
  }

  protected override write(batch: EventBatch): void {
    const { losses, names } = this
    const n = losses.countBatch(batch)
    if (batch.header !== this.header) this.begin(batch)
    names.begin(batch.strings)
    const { mask, kind, api, type } = batch
    const address = batch.address.words

    for (let i = 0; i < n; i++) {
      const fields = mask[i]
      const what = kind[i]
      if (what === REALLOC) {
        const { parts, reason } = reallocParts(batch, i)
        losses.countEvent(reason, batch, i)
        if (parts === Parts.none) continue
        this.noteThread(fields, batch, i)
        this.readTime(fields, batch, i)
        if ((parts & Parts.alloc) !== 0) this.noteSize(fields, batch, i)
        const typed = this.noted(names.type((fields & HAS_TYPE) !== 0 ? type[i] : -1), batch, i)
        const stack = this.stackOf(fields, batch, i)
        // A realloc in place may have only one of its addresses.
        const old = (fields & HAS_OLD_ADDRESS) !== 0 ? batch.oldAddress.words : address
        const now = (fields & HAS_ADDRESS) !== 0 ? address : old
        if ((parts & Parts.free) !== 0)
          this.writeLine(FREE, fields, old[2 * i + LO], old[2 * i + HI], typed, stack, batch, i)
        if ((parts & Parts.alloc) !== 0)
          this.writeLine(ALLOC, fields, now[2 * i + LO], now[2 * i + HI], typed, stack, batch, i)
        continue
      }
      if (what !== ALLOC && what !== FREE && what !== EXISTING) continue
      if ((fields & HAS_ADDRESS) === 0) {
        losses.countEvent(what === FREE ? 'frees without an address' : 'allocations without an address', batch, i)
        continue
      }
      if ((fields & HAS_API) !== 0 && what !== EXISTING) this.noteApi(what, api[i], batch, i)
      this.noteThread(fields, batch, i)
      if (what !== EXISTING) this.readTime(fields, batch, i)
      if (what !== FREE) this.noteSize(fields, batch, i)
      const typed = this.noted(names.type((fields & HAS_TYPE) !== 0 ? type[i] : -1), batch, i)
      const stack = this.stackOf(fields, batch, i)
      this.writeLine(what, fields, address[2 * i + LO], address[2 * i + HI], typed, stack, batch, i)
    }
    if (n < batch.count) throw losses.errorFor(batch, n)
  }

  /** Starts another trace. After the first one, only a header row can mark the start. */
  private begin(batch: EventBatch): void {
    const { headerRow, separator } = this.options
    const own = Layout.layoutOf(batch.header)
    this.layout = {
      headerRow: headerRow === true || own.headerRow,
      separator: separator ?? own.separator,
      indent: own.indent,
    }
    this.tabs = this.layout.separator === 'tab'
    if (this.header !== undefined && !this.layout.headerRow)
      this.losses.countEvent('beginning of another trace', batch, 0)
    this.header = batch.header
    if (this.layout.headerRow) this.writeHeaderRow()
  }

  private writeHeaderRow(): void {
    const { sink } = this
    sink.reserve(MAX_NUMBERS)
    const out = sink.bytes
    let p = this.indent(out, sink.pos)
    Layout.COLUMN_HEADINGS.forEach((title, column) => {
      const start = p
      for (const char of ascii(title)) out[p++] = char
      const width = Layout.WIDTHS[column]
      if (width !== undefined) p = this.gap(out, p, start, width)
    })
    out[p++] = LF
    sink.pos = p
  }

  /** Writes one line. It counts no losses: everything that its columns cannot represent was counted before. */
  private writeLine(
    what: number,
    fields: number,
    lo: number,
    hi: number,
    type: Uint8Array,
    stack: Uint8Array,
    batch: EventBatch,
    i: number,
  ): void {
    const { sink } = this
    const at = 2 * i
    sink.reserve(MAX_NUMBERS + type.length + stack.length)
    const out = sink.bytes
    let p = this.indent(out, sink.pos)

    let start = p
    if ((fields & HAS_PROCESS) !== 0)
      p = writeDecimal(out, p, batch.process.words[at + LO], batch.process.words[at + HI])
    else out[p++] = ZERO
    out[p++] = MINUS
    if ((fields & HAS_THREAD) !== 0) p = writeDecimal(out, p, batch.thread.words[at + LO], batch.thread.words[at + HI])
    else out[p++] = ZERO
    p = this.gap(out, p, start, THREAD_WIDTH)

    start = p
    if (what === EXISTING) p = put(out, p, Layout.OLD)
    else p = writeDecimal(out, p, this.timeLo, this.timeHi)
    p = this.gap(out, p, start, TIME_WIDTH)

    start = p
    out[p++] = ZERO
    out[p++] = LETTER_X
    p = writeHex(out, p, lo, hi)
    p = this.gap(out, p, start, ADDRESS_WIDTH)

    start = p
    if (what === FREE) p = put(out, p, Layout.DEL)
    else if ((fields & HAS_SIZE) !== 0) p = writeDecimal(out, p, batch.size.words[at + LO], batch.size.words[at + HI])
    else out[p++] = ZERO
    p = this.gap(out, p, start, SIZE_WIDTH)

    start = p
    p = put(out, p, type)
    if (stack.length > 0) {
      p = this.gap(out, p, start, TYPE_WIDTH)
      p = put(out, p, stack)
    }
    out[p++] = LF
    sink.pos = p
  }

  private indent(out: Uint8Array, p: number): number {
    for (let { indent } = this.layout; indent > 0; indent--) out[p++] = SPACE
    return p
  }

  /**
   * Writes what follows a column that started at `start`: a tab, or at least two spaces, because a type can contain
   * single ones.
   */
  private gap(out: Uint8Array, p: number, start: number, width: number): number {
    if (this.tabs) {
      out[p] = TAB
      return p + 1
    }
    const next = Math.max(start + width, p + 2)
    while (p < next) out[p++] = SPACE
    return p
  }

  /** The event's stack, or the function alone if that is all the event has. */
  private stackOf(fields: number, batch: EventBatch, i: number): Uint8Array {
    if ((fields & HAS_FUNCTION) !== 0) {
      if ((fields & HAS_STACK) === 0) {
        this.losses.countEvent('function, written as a stack of one frame', batch, i)
        return this.noted(this.names.function(batch.function[i]), batch, i)
      }
      this.losses.countEvent('function of events that have a stack', batch, i)
    }
    const stack = (fields & HAS_STACK) !== 0 ? batch.stack[i] : -1
    return this.noted(this.names.stack(stack), batch, i)
  }

  private noted({ bytes, loss }: Name, batch: EventBatch, i: number): Uint8Array {
    if (loss !== undefined) this.losses.countEvent(loss, batch, i)
    return bytes
  }

  /** 0 means "no thread" and "no process", so a value of 0 cannot be distinguished from them. */
  private noteThread(fields: number, batch: EventBatch, i: number): void {
    if ((fields & HAS_PROCESS) !== 0 && isZero(batch.process.words, i))
      this.losses.countEvent('process 0, which stands for none', batch, i)
    if ((fields & HAS_THREAD) !== 0 && isZero(batch.thread.words, i))
      this.losses.countEvent('thread 0, which stands for none', batch, i)
  }

  private noteSize(fields: number, batch: EventBatch, i: number): void {
    if ((fields & HAS_SIZE) === 0) this.losses.countEvent('no size, written as 0', batch, i)
  }

  private noteApi(what: number, api: number, batch: EventBatch, i: number): void {
    const expected = what === ALLOC ? NEW_API : DELETE_API
    if (api !== expected) this.losses.countEvent(`api ${APIS[api]}, written as ${APIS[expected]}`, batch, i)
  }

  private readTime(fields: number, batch: EventBatch, i: number): void {
    this.timeLo = this.timeHi = 0
    if ((fields & HAS_TIME) === 0) {
      this.losses.countEvent('no time, written as 0', batch, i)
      return
    }
    const lo = batch.time.words[2 * i + LO]
    const hi = batch.time.words[2 * i + HI]
    if (batch.header.timeUnit !== 'ns') {
      this.timeLo = lo
      this.timeHi = hi
      return
    }
    // Long division by 1000; each step is exact in a double.
    const upper = Math.floor(hi / 1000)
    const rest = (hi - upper * 1000) * WORD + lo
    const lower = Math.floor(rest / 1000)
    this.timeLo = lower
    this.timeHi = upper
    if (rest !== lower * 1000) this.losses.countEvent('times between microseconds, rounded down', batch, i)
  }
}
