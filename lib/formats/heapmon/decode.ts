import { CR, LF, MINUS, SPACE, TAB, ZERO } from '../../bytes/ascii.js'
import { skipMark } from '../../bytes/byte-order-mark.js'
import { Input } from '../../bytes/input.js'
import { decimal, gap, hex } from '../../bytes/numbers.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../../event/batch.js'
import { limit, malformed, truncated, type TraceError, type TracePosition } from '../../event/error.js'
import { Api, fieldSet, FieldBit, Kind } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { TextDecodeOptions } from '../../event/format.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import type { Decoder } from '../../event/stage.js'
import { BadLines } from './bad-lines.js'
import { StackCrawls } from './stack-crawls.js'
import { DEFAULT_LAYOUT, DEL, headerOf, MAX_LINE, NAME, OLD } from './layout.js'
import { KnownNames } from './known-names.js'
import { HEADER_ROW_START, layoutOfLine, headerRowEnd, wordEnd } from './header-row.js'
import { isNovtbl, typeEnd, typeTextEnd } from './types.js'

const ALLOC = Kind.alloc
const FREE = Kind.free
const EXISTING = Kind.existing
const NEW_API = Api.new
const DELETE_API = Api.delete

const ALLOC_FIELDS = fieldSet('api', 'time', 'address', 'size')
const FREE_FIELDS = fieldSet('api', 'time', 'address')
const EXISTING_FIELDS = fieldSet('address', 'size')
const HAS_PROCESS = FieldBit.process
const HAS_THREAD = FieldBit.thread
const HAS_TYPE = FieldBit.type
const HAS_STACK = FieldBit.stack
const COLUMNS = ALLOC_FIELDS | HAS_PROCESS | HAS_THREAD | HAS_TYPE | HAS_STACK

const LETTER_D = 0x64
const LETTER_O = 0x6f
const LETTER_X = 0x78

const MIN_CAPACITY = 16
const USUAL_BYTES_PER_EVENT = 128

const NEWLINE = Uint8Array.of(LF)
const TOO_LONG = `a line of more than ${MAX_LINE} bytes`

/** Options of the decoder. */
export interface HeapmonDecodeOptions extends TextDecodeOptions {
  /**
   * Skip, report and count lines that match no rule or are too long, instead of failing at the first. Default false.
   */
  skipBad?: boolean
}

const OPTIONS: OptionNames<HeapmonDecodeOptions> = { lastLine: 'boolean', skipBad: 'boolean' }

/**
 * Decodes heap monitoring files. It only processes lines whose line feed has arrived, so no reader needs to check for
 * the end of the input: the line feed stops them all.
 */
export class HeapmonDecoder implements Decoder {
  readonly warnings: string[] = []
  private readonly input = new Input()
  private readonly names = new KnownNames()
  private readonly crawls = new StackCrawls(this.names)
  private readonly bad: BadLines | undefined
  private readonly takesLastLine: boolean
  /** The position after the last line feed in the input. */
  private lines = 0
  private line = 1
  private events = 0
  private header: TraceHeader | undefined
  /** The header of the last batch delivered. */
  private announced: TraceHeader | undefined
  /** The next line is the header row of another file. */
  private atTitles = false
  /** Inside a line that is too long and is being skipped. */
  private skipping = false
  private ended = false
  /** The last line had no line feed; one was appended. */
  private unterminated = false
  /** The last line has no line feed, and is not read. */
  private isCut = false
  private failure: TraceError | null = null

  constructor(options: HeapmonDecodeOptions = {}) {
    checkOptions(options, OPTIONS, 'HeapmonDecoder')
    const { skipBad = false, lastLine = false } = options
    this.takesLastLine = lastLine
    if (skipBad) this.bad = new BadLines(this.warnings)
  }

  feed(chunk: Uint8Array): void {
    const { input } = this
    // The rest contains no line feed: all whole lines have been read.
    const last = chunk.lastIndexOf(LF)
    input.feed(chunk)
    this.lines = last < 0 ? input.pos : input.end - chunk.length + last + 1
  }

  end(): void {
    this.ended = true
    if (this.input.left === 0 && !this.skipping) return
    if (this.takesLastLine) {
      this.unterminated = true
      this.feed(NEWLINE)
    } else this.isCut = true
  }

  endTruncated(): void {
    // The rest of a line may have lost digits or names, so it is not an event.
    this.bad?.finish()
  }

  detach(): void {
    // All whole lines have been read.
    this.input.detach()
    this.lines = this.input.pos
  }

  next(): EventBatch | null {
    if (this.failure !== null) throw this.failure
    const { input } = this
    skipMark(input)
    while (input.pos < this.lines) {
      if (this.skipping) {
        this.skipping = false
        this.passLine()
      } else if (this.header === undefined) {
        this.begin()
      } else {
        const batch = this.read(this.header)
        if (batch.count > 0 || (this.atTitles && batch.header !== this.announced)) return this.give(batch)
        if (this.atTitles) this.readTitles()
      }
      if (this.failure !== null) throw this.failure
    }
    this.skipLong()
    if (this.header !== undefined && this.header !== this.announced) return this.give(new EventBatch(0, 0, this.header))
    return this.ended ? this.finish() : null
  }

  /** Delivers what follows the last event. */
  private finish(): EventBatch | null {
    if (this.isCut) {
      const { offset } = this.input
      this.bad?.finish()
      throw truncated('the last line does not end with a line feed', {
        format: NAME,
        offset,
        line: this.line,
        event: this.events + 1,
      })
    }
    if (this.announced !== undefined) {
      this.bad?.finish()
      return null
    }
    // The input has empty lines only.
    return this.give(new EventBatch(0, 0, (this.header = headerOf(DEFAULT_LAYOUT))))
  }

  private give(batch: EventBatch): EventBatch {
    this.announced = batch.header
    this.events += batch.count
    return batch
  }

  /**
   * Skips empty lines up to the first other one, which shows the layout, and skips that one if it is the header row.
   */
  private begin(): void {
    const { input } = this
    const { bytes } = input
    let p = input.pos
    while (bytes[p] === SPACE || bytes[p] === TAB) p++
    if (bytes[p] === LF || (bytes[p] === CR && bytes[p + 1] === LF)) {
      this.passLine()
      return
    }
    const headerRow = bytes[p] === HEADER_ROW_START && headerRowEnd(bytes, p) >= 0
    this.header = headerOf(layoutOfLine(bytes, input.pos, headerRow))
    if (headerRow) this.passLine()
  }

  /** A header row after other lines: another file was appended to the first. */
  private readTitles(): void {
    this.atTitles = false
    this.header = headerOf(layoutOfLine(this.input.bytes, this.input.pos, true))
    this.passLine()
  }

  private passLine(): void {
    const { input } = this
    input.pos = input.bytes.indexOf(LF, input.pos) + 1
    this.line++
  }

  private newBatch(header: TraceHeader): EventBatch {
    const { input } = this
    const perEvent = this.events === 0 ? USUAL_BYTES_PER_EVENT : input.offset / this.events
    // Slightly more than the mean, so that the last lines of a chunk rarely need a batch of their own.
    const capacity = Math.ceil(((this.lines - input.pos) / perEvent) * 1.1)
    return new EventBatch(Math.min(BATCH_EVENTS, Math.max(MIN_CAPACITY, capacity)), COLUMNS, header)
  }

  /** Reads lines into a new batch until it is full, the lines are used up, one is faulty, or a header row follows. */
  private read(header: TraceHeader): EventBatch {
    const { input, lines, names, crawls } = this
    const { bytes } = input
    const batch = this.newBatch(header)
    const { capacity, mask, kind, api, type, stack, strings } = batch
    const process = batch.process.words
    const thread = batch.thread.words
    const time = batch.time.words
    const address = batch.address.words
    const size = batch.size.words
    crawls.begin(bytes, strings)
    let { line } = this
    let p = input.pos
    let i = 0
    let start = p

    for (; p < lines && i < capacity && strings.byteLength <= BATCH_STRING_BYTES; start = p) {
      const at = 2 * i
      let fields = 0
      let expected = ''

      row: {
        let c = bytes[p] as number
        while (c === SPACE || c === TAB) c = bytes[++p] as number
        if (c === LF) break row
        if (c === CR && bytes[p + 1] === LF) {
          p++
          break row
        }

        let q = decimal(bytes, p, process, at)
        if (q > 0) q = bytes[q] === MINUS ? decimal(bytes, q + 1, thread, at) : ~q
        if (q < 0) {
          if (c === HEADER_ROW_START) {
            q = headerRowEnd(bytes, p)
            if (q > 0) {
              this.atTitles = true
              break
            }
          }
          expected = 'a thread'
          p = q
          break row
        }
        if (process[at] !== 0 || process[at + 1] !== 0) fields |= HAS_PROCESS
        if (thread[at] !== 0 || thread[at + 1] !== 0) fields |= HAS_THREAD

        // Whether columns are separated by more than one space, so that a type can contain spaces.
        let wide = bytes[q] === TAB ? 1 : 0
        p = gap(bytes, q)
        wide |= p - q - 1
        const old = bytes[p] === LETTER_O
        if (p > 0) q = old ? wordEnd(bytes, p, OLD) : decimal(bytes, p, time, at)
        if (p < 0 || q < 0) {
          expected = 'a time or "old"'
          p = p < 0 ? p : q
          break row
        }

        wide |= bytes[q] === TAB ? 1 : 0
        p = gap(bytes, q)
        wide |= p - q - 1
        if (p > 0)
          q =
            bytes[p] !== ZERO
              ? ~p
              : ((bytes[p + 1] as number) | 32) !== LETTER_X
                ? ~(p + 1)
                : hex(bytes, p + 2, address, at)
        if (p < 0 || q < 0) {
          expected = 'an address'
          p = p < 0 ? p : q
          break row
        }

        wide |= bytes[q] === TAB ? 1 : 0
        p = gap(bytes, q)
        wide |= p - q - 1
        const del = bytes[p] === LETTER_D && !old
        if (p > 0) q = del ? wordEnd(bytes, p, DEL) : decimal(bytes, p, size, at)
        if (p < 0 || q < 0) {
          expected = old ? 'a size' : 'a size or "del"'
          p = p < 0 ? p : q
          break row
        }

        if (old) {
          kind[i] = EXISTING
          fields |= EXISTING_FIELDS
        } else if (del) {
          kind[i] = FREE
          api[i] = DELETE_API
          fields |= FREE_FIELDS
        } else {
          kind[i] = ALLOC
          api[i] = NEW_API
          fields |= ALLOC_FIELDS
        }

        c = bytes[q] as number
        if (c === LF) {
          p = q
          break row
        }
        if (c === CR && bytes[q + 1] === LF) {
          p = q + 1
          break row
        }
        wide |= c === TAB ? 1 : 0
        p = gap(bytes, q)
        if (p < 0) {
          expected = 'a type or the end of the line'
          break row
        }
        wide |= p - q - 1
        q = typeEnd(bytes, p, wide !== 0)
        const end = typeTextEnd(bytes, p, q)
        if (end > p && !isNovtbl(bytes, p, end)) {
          type[i] = names.id(names.number(bytes, p, end))
          fields |= HAS_TYPE
        }

        p = q
        c = bytes[p] as number
        while (c === SPACE || c === TAB) c = bytes[++p] as number
        if (c !== LF) {
          const list = crawls.find(p)
          if (list >= 0) {
            stack[i] = list
            fields |= HAS_STACK
          }
          p = crawls.end
        }
      }

      if (p < 0) {
        this.fault(start, ~p, expected, line, this.events + i)
        if (this.failure !== null) break
        p = bytes.indexOf(LF, ~p)
        fields = 0
      } else if (p - start >= MAX_LINE) {
        this.tooLong(start, line, this.events + i)
        if (this.failure !== null) break
        fields = 0
      }
      // p is at the line feed here.
      p++
      line++
      if (fields !== 0) {
        mask[i] = fields
        i++
      }
    }

    batch.count = i
    this.line = line
    input.pos = start
    return batch
  }

  /**
   * The line that starts at `start` breaks the grammar at `at`. The next call of `next` without events throws, or the
   * line is skipped.
   */
  private fault(start: number, at: number, expected: string, line: number, events: number): void {
    const { input } = this
    if (input.bytes.indexOf(LF, start) - start >= MAX_LINE) {
      this.tooLong(start, line, events)
      return
    }
    const place = { format: NAME, offset: input.offset + at - input.pos, line, column: at - start + 1 }
    if (this.unterminated && at === input.end - 1)
      this.reject(truncated, `the last line is incomplete: expected ${expected}`, place, events)
    else this.reject(malformed, `expected ${expected}`, place, events)
  }

  private tooLong(start: number, line = this.line, events = this.events): void {
    const { input } = this
    this.reject(limit, TOO_LONG, { format: NAME, offset: input.offset + start - input.pos, line, column: 1 }, events)
  }

  private reject(error: typeof malformed, reason: string, place: TracePosition, events: number): void {
    if (this.bad === undefined) this.failure = error(reason, { ...place, event: events + 1 })
    else this.bad.add(reason, place)
  }

  /** Keeps an endless line from filling memory. */
  private skipLong(): void {
    const { input } = this
    if (!this.skipping && input.left > MAX_LINE) {
      this.tooLong(input.pos)
      if (this.failure !== null) throw this.failure
      this.skipping = true
    }
    if (this.skipping) input.pos = input.end
  }
}
