import { Sink } from '../../bytes/sink.js'
import { HI, LO, MAX_DECIMAL, WORD, writeDecimal } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import type { Stage } from '../../event/stage.js'
import { BlockEffect } from '../../blocks/block-effect.js'
import { LiveSet } from '../../blocks/live-set.js'
import { Totals } from '../../transforms/statistics/totals.js'
import { moreTraces, mpatrolText } from './mpatrol.js'
import { TraceChoice } from './trace-choice.js'

const HAS_ADDRESS = FieldBit.address
const HAS_OLD_ADDRESS = FieldBit.oldAddress
const HAS_INDEX = FieldBit.index
const HAS_SIZE = FieldBit.size
const HAS_TYPE = FieldBit.type
const HAS_THREAD = FieldBit.thread
const HAS_FUNCTION = FieldBit.function
const HAS_FILE = FieldBit.file
const HAS_LINE = FieldBit.line
const { free: FREE, realloc: REALLOC, existing: EXISTING, reserve: RESERVE } = Kind
const { began: BEGAN, ended: ENDED, reused: REUSED } = BlockEffect

/** The words kept for each live block: the number of the event that allocated it, its address, size and index. */
const [BORN, ADDRESS, SIZE, INDEX, WORDS] = [0, 2, 4, 6, 8]
/** A piece of output is delivered at about this length, in bytes. */
const PIECE = 65_536
/** The longest row without names. */
const ROW = 192
const BLANK = 32

const ascii = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0))
/** Types, padded to where the next column begins; memory that was reserved has no number and no index. */
const ALLOC = ascii('alloc   ')
const REALLOCATED = ascii('realloc ')
const FREED = ascii('free    ')
const OLD = ascii('old     ')
const RESERVED = ascii('        reserve       ')
const INTERNAL = ascii('        internal      ')
const SOURCE = ascii(' '.repeat(23))
const THREAD = ascii(' thread ')
const IN = ascii(' in ')
const AT = ascii(' at ')
const LINE = ascii(' line ')
const NEWLINE = ascii('\n')
const HEX = ascii('0123456789ABCDEF')

/** Options of an event table. */
export interface EventTableOptions {
  /** Whether to show thread, function, file and line below each event. */
  sources?: boolean
  /** Which trace of the stream to show. Default 1, with a warning if there are more. */
  trace?: number
}

/**
 * The table of events as mpatrol's trace reader prints it, followed by its statistics. Events of other formats have the
 * number of their block's allocation as an index; frees and reallocs have the address, size and lifetime of the block
 * that they end. Memory grows with the live blocks: 32 bytes for each, in addition to `LiveSet`.
 */
export class EventTable implements Stage<EventBatch, Uint8Array> {
  readonly warnings: string[] = []
  private readonly sink = new Sink()
  private readonly scratch = new Uint8Array(MAX_DECIMAL)
  private readonly liveSet = new LiveSet(WORDS)
  private readonly totals = new Totals()
  private readonly choice: TraceChoice
  private readonly isChosen: boolean
  private readonly sources: boolean
  private batch: EventBatch | undefined
  private row = 0
  private events = 0
  /** The last index that was assigned to a block without one. */
  private lastIndex = 0
  /** The event that freed a block last, if it was by an index, and the words of that block. */
  private lastFree = 0
  private readonly lastFreed = new Uint32Array(WORDS)
  private digits = 16
  private begun = false
  /** The statistics are still to be printed; `check` if the input is whole. */
  private ending: 'check' | 'endTruncated' | undefined

  constructor({ sources = false, trace }: EventTableOptions = {}) {
    this.sources = sources
    this.isChosen = trace !== undefined
    this.choice = new TraceChoice(trace ?? 1)
  }

  feed(batch: EventBatch): void {
    if (!this.choice.admits(batch.header)) return
    this.batch = batch
    this.row = 0
    if (this.begun) return
    if (batch.header.layout?.['wordSize'] === 4) this.digits = 8
    this.begin()
  }

  next(): Uint8Array | null {
    const { batch, sink } = this
    if (batch !== undefined) {
      while (this.row < batch.count && sink.pos < PIECE) this.event(batch, this.row++)
      if (this.row === batch.count) this.batch = undefined
    } else if (this.ending !== undefined) {
      this.finish(this.ending === 'check')
    }
    return sink.pos > 0 ? sink.take() : null
  }

  end(): void {
    this.ending = 'check'
  }

  endTruncated(): void {
    this.ending = 'endTruncated'
  }

  private begin(): void {
    this.begun = true
    // The header of the addresses is centered in its column.
    const margin = ' '.repeat((this.digits - 8) / 2)
    const titles = ` event  type     index  ${margin}allocation${margin}      size    life   count     bytes\n`
    this.sink.append(
      ascii(`${titles}------  ------  ------  ${'-'.repeat(this.digits + 2)}  --------  ------  ------  --------\n`),
    )
  }

  private finish(isWhole: boolean): void {
    const { choice, isChosen } = this
    this.ending = undefined
    if (isWhole) choice.check()
    if (!this.begun) return
    this.sink.append(ascii(`\n${mpatrolText(this.totals.mpatrol())}`))
    if (!isChosen && choice.traces > 1) this.warnings.push(moreTraces(choice.traces))
  }

  private event(batch: EventBatch, i: number): void {
    const kind = batch.kind[i] as number
    const mask = batch.mask[i] as number
    if (kind === RESERVE) return this.reserve(batch, i, mask)
    if (kind > EXISTING) return
    const { liveSet, totals, sink } = this
    this.events++
    const effect = liveSet.take(batch, i)
    const isSized = (mask & HAS_SIZE) !== 0
    const lo = isSized ? (batch.size.words[2 * i + LO] as number) : 0
    const hi = isSized ? (batch.size.words[2 * i + HI] as number) : 0
    const { words } = liveSet
    const ended = WORDS * (liveSet.ended[0] as number)
    const at = WORDS * (liveSet.begun[0] as number)
    if ((effect & ENDED) !== 0) totals.free(words[ended + SIZE] as number, words[ended + SIZE + 1] as number)
    if (kind === FREE && (effect & ENDED) !== 0 && (mask & HAS_INDEX) !== 0) {
      this.lastFree = this.events
      this.lastFreed.set(words.subarray(ended, ended + WORDS))
    }
    if ((effect & BEGAN) !== 0) {
      if ((effect & REUSED) !== 0) totals.vanish(words[at + SIZE] as number, words[at + SIZE + 1] as number)
      totals.allocation(lo, hi)
      this.store(batch, i, mask, (effect & ENDED) !== 0, lo, hi)
    }
    sink.reserve(ROW)
    this.number(6, this.events >>> 0, Math.floor(this.events / WORD))
    this.blanks(2)
    sink.append(kind === FREE ? FREED : kind === REALLOC ? REALLOCATED : kind === EXISTING ? OLD : ALLOC)
    if ((effect & BEGAN) !== 0) {
      this.number(6, words[at + INDEX] as number, words[at + INDEX + 1] as number)
      this.pointer(words[at + ADDRESS] as number, words[at + ADDRESS + 1] as number)
      this.number(8, lo, hi)
      this.blanks(10)
    } else if ((effect & ENDED) !== 0) {
      this.number(6, words[ended + INDEX] as number, words[ended + INDEX + 1] as number)
      this.pointer(words[ended + ADDRESS] as number, words[ended + ADDRESS + 1] as number)
      this.number(8, words[ended + SIZE] as number, words[ended + SIZE + 1] as number)
      this.blanks(2)
      const life = this.events - ((words[ended + BORN] as number) + (words[ended + BORN + 1] as number) * WORD)
      this.number(6, life >>> 0, Math.floor(life / WORD))
      this.blanks(2)
    } else {
      this.bystander(batch, i, mask)
    }
    this.number(6, totals.live >>> 0, Math.floor(totals.live / WORD))
    this.blanks(2)
    if (totals.liveBytes.hi < WORD) this.number(8, totals.liveBytes.lo, totals.liveBytes.hi)
    else sink.append(ascii(String(totals.liveBytes.value)))
    sink.append(NEWLINE)
    if (this.sources) this.source(batch, i, mask)
  }

  /** The middle of the row of an event that affected no block: its own values. */
  private bystander(batch: EventBatch, i: number, mask: number): void {
    const { address, size, index } = batch
    if ((mask & HAS_INDEX) !== 0) this.number(6, index.words[2 * i + LO] as number, index.words[2 * i + HI] as number)
    else this.blanks(6)
    if ((mask & HAS_ADDRESS) !== 0)
      this.pointer(address.words[2 * i + LO] as number, address.words[2 * i + HI] as number)
    else this.blanks(this.digits + 6)
    if ((mask & HAS_SIZE) !== 0) this.number(8, size.words[2 * i + LO] as number, size.words[2 * i + HI] as number)
    else this.blanks(8)
    this.blanks(10)
  }

  private reserve(batch: EventBatch, i: number, mask: number): void {
    const { sink } = this
    const isInternal = (mask & HAS_TYPE) !== 0 && batch.strings.text(batch.type[i] as number) === 'internal'
    const isSized = (mask & HAS_SIZE) !== 0
    const isPlaced = (mask & HAS_ADDRESS) !== 0
    const lo = isSized ? (batch.size.words[2 * i + LO] as number) : 0
    const hi = isSized ? (batch.size.words[2 * i + HI] as number) : 0
    this.totals.reserves.take(batch, i)
    sink.reserve(ROW)
    sink.append(isInternal ? INTERNAL : RESERVED)
    this.pointer(
      isPlaced ? (batch.address.words[2 * i + LO] as number) : 0,
      isPlaced ? (batch.address.words[2 * i + HI] as number) : 0,
    )
    this.number(8, lo, hi)
    sink.append(NEWLINE)
  }

  /** Fills the words of the block that began. */
  private store(batch: EventBatch, i: number, mask: number, goesOn: boolean, lo: number, hi: number): void {
    const { words } = this.liveSet
    const at = WORDS * (this.liveSet.begun[0] as number)
    const ended = WORDS * (this.liveSet.ended[0] as number)
    const before = goesOn
      ? words.subarray(ended, ended + WORDS)
      : this.isResized(batch, i, mask)
        ? this.lastFreed
        : undefined
    words[at + BORN] = before === undefined ? this.events : (before[BORN] as number)
    words[at + BORN + 1] = before === undefined ? Math.floor(this.events / WORD) : (before[BORN + 1] as number)
    words[at + SIZE] = lo
    words[at + SIZE + 1] = hi
    // A realloc that stayed in place may name but one address.
    const has =
      (mask & HAS_ADDRESS) !== 0 ? batch.address : (mask & HAS_OLD_ADDRESS) !== 0 ? batch.oldAddress : undefined
    words[at + ADDRESS] = has === undefined ? 0 : (has.words[2 * i + LO] as number)
    words[at + ADDRESS + 1] = has === undefined ? 0 : (has.words[2 * i + HI] as number)
    if ((mask & HAS_INDEX) !== 0) {
      words[at + INDEX] = batch.index.words[2 * i + LO] as number
      words[at + INDEX + 1] = batch.index.words[2 * i + HI] as number
    } else if (goesOn) {
      words[at + INDEX] = words[ended + INDEX] as number
      words[at + INDEX + 1] = words[ended + INDEX + 1] as number
    } else {
      const index = ++this.lastIndex
      words[at + INDEX] = index
      words[at + INDEX + 1] = Math.floor(index / WORD)
    }
  }

  /**
   * Whether an allocation continues the block freed just before: in old traces a realloc is a free and an allocation
   * of one index.
   */
  private isResized(batch: EventBatch, i: number, mask: number): boolean {
    if (this.lastFree === 0 || this.lastFree !== this.events - 1 || (mask & HAS_INDEX) === 0) return false
    const { words } = batch.index
    return words[2 * i + LO] === this.lastFreed[INDEX] && words[2 * i + HI] === this.lastFreed[INDEX + 1]
  }

  /** The line below an event: thread, function, file and line, as far as known. */
  private source(batch: EventBatch, i: number, mask: number): void {
    const { sink } = this
    const { strings } = batch
    const threadLo = (mask & HAS_THREAD) !== 0 ? (batch.thread.words[2 * i + LO] as number) : 0
    const threadHi = (mask & HAS_THREAD) !== 0 ? (batch.thread.words[2 * i + HI] as number) : 0
    const name = (mask & HAS_FUNCTION) !== 0 ? (batch.function[i] as number) : -1
    const line = (mask & HAS_LINE) !== 0 ? (batch.line[i] as number) : 0
    const file = (mask & HAS_FILE) !== 0 && line !== 0 ? (batch.file[i] as number) : -1
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
    if (length < width) this.blanks(width - length)
    for (let d = 0; d < length; d++) sink.bytes[sink.pos++] = scratch[d] as number
  }

  /** An address with all its digits, between two gaps. */
  private pointer(lo: number, hi: number): void {
    const { sink } = this
    this.blanks(2)
    sink.bytes[sink.pos++] = 48
    sink.bytes[sink.pos++] = 120
    // An address that needs more digits than the trace's machine has keeps them.
    if (this.digits === 16 || hi !== 0) this.hex(hi)
    this.hex(lo)
    this.blanks(2)
  }

  private hex(word: number): void {
    const { sink } = this
    for (let shift = 28; shift >= 0; shift -= 4) sink.bytes[sink.pos++] = HEX[(word >>> shift) & 15] as number
  }

  private blanks(n: number): void {
    const { sink } = this
    for (let b = 0; b < n; b++) sink.bytes[sink.pos++] = BLANK
  }
}
