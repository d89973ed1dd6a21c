import { Sink } from '../../bytes/sink.js'
import { HI, LO, MAX_DECIMAL, writeDecimal } from '../../bytes/u64.js'
import { BATCH_EVENTS, type EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import { LiveSet, tooManyBlocks } from '../../blocks/live-set.js'
import { CountingKernel } from '../../kernel/counting.js'
import type { LiveExports } from '../../kernel/live.js'
import type { Globals } from '../../kernel/load.js'
import { ascii } from '../../text/ascii.js'
import { readKernelTotals } from '../../transforms/statistics/kernel-totals.js'
import { mpatrolFigures, Reserves } from '../../transforms/statistics/totals.js'
import { BatchWarnings } from './warnings.js'
import { FinalReport } from './final-report.js'
import { moreTraces, mpatrolText } from './mpatrol.js'

const { address: HAS_ADDRESS, size: HAS_SIZE, type: HAS_TYPE, thread: HAS_THREAD, function: HAS_FUNCTION } = FieldBit
const { file: HAS_FILE, line: HAS_LINE } = FieldBit
const { existing: EXISTING, reserve: RESERVE } = Kind
/** A piece of output is delivered at about this length, in bytes. */
const PIECE = 65_536
/** The longest row of reserved memory. */
const ROW = 192
const BLANK = 32

/** Memory that was reserved has no number and no index. */
const RESERVED = ascii('        reserve       ')
const INTERNAL = ascii('        internal      ')
const SOURCE = ascii(' '.repeat(23))
const THREAD = ascii(' thread ')
const IN = ascii(' in ')
const AT = ascii(' at ')
const LINE = ascii(' line ')
const NEWLINE = ascii('\n')
const HEX = ascii('0123456789ABCDEF')

/** kernel/event-table/list.ts, which says what each of these is. */
interface EventTableExports extends LiveExports, Globals<'written' | 'ROW_ENDS' | 'TOTALS'> {
  begin(digits: number): void
  makeRoom(): number
  list(row: number, rows: number): number
  readonly unknown: { readonly value: bigint }
}

export interface EventTableOptions {
  /** Whether to show thread, function, file and line below each event. */
  sources?: boolean
  /** Which trace of the stream to show. Default 1, with a warning if there are more. */
  trace?: number | undefined
}

/**
 * The table of events as mpatrol's trace reader prints it, followed by its statistics. Events of other formats have the
 * number of their block's allocation as an index; frees and reallocs have the address, size and lifetime of the block
 * that they end. Memory grows with the live blocks: 48 bytes for each, in addition to `LiveSet`.
 */
export class EventTable extends FinalReport {
  private readonly sink = new Sink()
  private readonly scratch = new Uint8Array(MAX_DECIMAL)
  private readonly kernel = new CountingKernel<EventTableExports>('event-table')
  private readonly liveSet = new LiveSet(0, this.kernel.run)
  private readonly reserves = new Reserves()
  private readonly doubts = new BatchWarnings()
  private readonly isChosen: boolean
  private readonly sources: boolean
  private batch: EventBatch | undefined
  /** The rows of the batch that the kernel has, and the first of them that it has not counted. */
  private from = 0
  private to = 0
  private row = 0
  /** The number of events of the batch, or of those before the first whose block cannot be distinguished. */
  private last = 0
  /** The number of events before the batch. */
  private events = 0
  /** With sources, the first row that is in the kernel's output only, and where it begins there. */
  private pending = 0
  private position = 0
  private digits = 16
  private begun = false

  constructor({ sources = false, trace }: EventTableOptions = {}) {
    super(trace ?? 1)
    this.sources = sources
    this.isChosen = trace !== undefined
  }

  override next(): Uint8Array | null {
    const { batch, sink } = this
    if (batch === undefined) return super.next()
    while (sink.pos < PIECE && this.list(batch));
    if (this.pending === this.last) {
      this.batch = undefined
      this.events += this.last
    }
    return sink.pos > 0 ? sink.handOver() : super.next()
  }

  protected add(batch: EventBatch): void {
    this.doubts.add(batch)
    this.batch = batch
    this.last = batch.count
    this.from = this.to = this.row = this.pending = 0
    if (!this.begun) this.begin(batch)
  }

  protected report(): Uint8Array[] {
    const { kernel, reserves, doubts } = this
    const figures = readKernelTotals(kernel)
    if (!this.isChosen && this.traces > 1) this.warnings.push(moreTraces(this.traces))
    this.warnings.push(...doubts.result(figures, Number(kernel.run.unknown.value)))
    return [ascii(`\n${mpatrolText(mpatrolFigures(figures, reserves))}`)]
  }

  private begin({ header }: EventBatch): void {
    this.begun = true
    if (header.layout?.['wordSize'] === 4) this.digits = 8
    this.kernel.run.begin(this.digits)
    // The header of the addresses is centered in its column.
    const margin = ' '.repeat((this.digits - 8) / 2)
    const titles = ` event  type     index  ${margin}allocation${margin}      size    life   count     bytes\n`
    this.sink.append(
      ascii(`${titles}------  ------  ------  ${'-'.repeat(this.digits + 2)}  --------  ------  ------  --------\n`),
    )
  }

  /** Adds some rows to the output. @returns whether there may be more in the batch */
  private list(batch: EventBatch): boolean {
    if (this.pending < this.row) return this.append(batch)
    if (this.row === this.to && !this.follow(batch)) return false
    const { kernel, from, to, row } = this
    this.row = from + kernel.run.list(row - from, to - from)
    this.position = 0
    // The kernel leaves these here: they are few, and their type is a string.
    if (this.row === row && batch.kind[row] === RESERVE) {
      this.reserve(batch, this.row++, batch.mask[row])
      this.pending = this.row
    }
    return true
  }

  /** Gives the next rows of the batch to the kernel. @returns whether there are any */
  private follow(batch: EventBatch): boolean {
    const { kernel, liveSet } = this
    this.from = this.to
    this.to = Math.min(this.last, this.from + BATCH_EVENTS)
    if (this.from === this.to) return false
    const unclear = liveSet.followClear(batch, this.from, this.to)
    if (unclear !== undefined) {
      this.to = this.last = unclear.row
      this.fail(unclear.at({ format: batch.header.format, event: this.events + unclear.row + 1 }))
      if (this.from === this.to) return false
    }
    const hasRoom = kernel.run.makeRoom()
    kernel.refresh()
    if (hasRoom === 0) throw tooManyBlocks()
    return true
  }

  /** Takes over what the kernel has written: all of it, or with sources one row. */
  private append(batch: EventBatch): true {
    const { kernel, sink, pending } = this
    const { run, output } = kernel
    if (!this.sources) {
      sink.append(output.subarray(0, run.written.value))
      this.pending = this.row
      return true
    }
    const end = kernel.word(run.ROW_ENDS.value + 4 * (pending - this.from))
    sink.append(output.subarray(this.position, end))
    this.position = end
    this.pending++
    if (batch.kind[pending] <= EXISTING) this.source(batch, pending, batch.mask[pending])
    return true
  }

  private reserve(batch: EventBatch, i: number, mask: number): void {
    const { sink } = this
    const isInternal = (mask & HAS_TYPE) !== 0 && batch.strings.text(batch.type[i]) === 'internal'
    const isSized = (mask & HAS_SIZE) !== 0
    const isPlaced = (mask & HAS_ADDRESS) !== 0
    const lo = isSized ? batch.size.words[2 * i + LO] : 0
    const hi = isSized ? batch.size.words[2 * i + HI] : 0
    this.reserves.take(batch, i)
    sink.reserve(ROW)
    sink.append(isInternal ? INTERNAL : RESERVED)
    this.pointer(isPlaced ? batch.address.words[2 * i + LO] : 0, isPlaced ? batch.address.words[2 * i + HI] : 0)
    this.number(8, lo, hi)
    sink.append(NEWLINE)
  }

  /** The line below an event: thread, function, file and line, as far as known. */
  private source(batch: EventBatch, i: number, mask: number): void {
    const { sink } = this
    const { strings } = batch
    const threadLo = (mask & HAS_THREAD) !== 0 ? batch.thread.words[2 * i + LO] : 0
    const threadHi = (mask & HAS_THREAD) !== 0 ? batch.thread.words[2 * i + HI] : 0
    const name = (mask & HAS_FUNCTION) !== 0 ? batch.function[i] : -1
    const line = (mask & HAS_LINE) !== 0 ? batch.line[i] : 0
    const file = (mask & HAS_FILE) !== 0 && line !== 0 ? batch.file[i] : -1
    if ((threadLo | threadHi) === 0 && name < 0 && file < 0) return
    sink.append(SOURCE)
    if ((threadLo | threadHi) !== 0) {
      sink.append(THREAD)
      this.number(0, threadLo, threadHi)
    }
    if (name >= 0) {
      sink.append(IN)
      sink.append(strings.view(name))
    }
    if (file >= 0) {
      sink.append(AT)
      sink.append(strings.view(file))
      sink.append(LINE)
      this.number(0, line, 0)
    }
    sink.append(NEWLINE)
  }

  /** A right-aligned integer; a wider one extends the column. */
  private number(width: number, lo: number, hi: number): void {
    const { sink, scratch } = this
    const length = writeDecimal(scratch, 0, lo, hi)
    sink.reserve(width + MAX_DECIMAL)
    if (length < width) this.spaces(width - length)
    for (let d = 0; d < length; d++) sink.bytes[sink.pos++] = scratch[d]
  }

  /** An address with all its digits, between two gaps. */
  private pointer(lo: number, hi: number): void {
    const { sink } = this
    this.spaces(2)
    sink.bytes[sink.pos++] = 48
    sink.bytes[sink.pos++] = 120
    // An address that needs more digits than the trace's machine has keeps them.
    if (this.digits === 16 || hi !== 0) this.hex(hi)
    this.hex(lo)
    this.spaces(2)
  }

  private hex(word: number): void {
    const { sink } = this
    for (let shift = 28; shift >= 0; shift -= 4) sink.bytes[sink.pos++] = HEX[(word >>> shift) & 15]
  }

  private spaces(n: number): void {
    const { sink } = this
    for (let b = 0; b < n; b++) sink.bytes[sink.pos++] = BLANK
  }
}
