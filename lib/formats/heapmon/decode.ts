import { CR, LF, MINUS, SPACE, TAB, ZERO } from '../../text/ascii.js'
import { decimal, gap, hex } from '../../text/numbers.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../../event/batch.js'
import { limit, malformed, truncated, type TracePosition } from '../../event/error.js'
import { Api, fieldSet, FieldBit, Kind } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { TextDecodeOptions } from '../../event/format.js'
import { LineDecoder } from '../../text/line-decoder.js'
import { BadLines } from './bad-lines.js'
import { StackCrawls } from './stack-crawls.js'
import { DEFAULT_LAYOUT, DEL, headerOf, MAX_LINE, NAME, OLD } from './layout.js'
import { KnownNames } from './known-names.js'
import { HEADER_ROW_START, layoutOfLine, headerRowEnd, wordEnd } from './header-row.js'
import { isNovtbl, typeEnd, typeTextEnd } from './types.js'

const { alloc: ALLOC, free: FREE, existing: EXISTING } = Kind
const { new: NEW_API, delete: DELETE_API } = Api

const ALLOC_FIELDS = fieldSet('api', 'time', 'address', 'size')
const FREE_FIELDS = fieldSet('api', 'time', 'address')
const EXISTING_FIELDS = fieldSet('address', 'size')
const { process: HAS_PROCESS, thread: HAS_THREAD, type: HAS_TYPE, stack: HAS_STACK } = FieldBit
const COLUMNS = ALLOC_FIELDS | HAS_PROCESS | HAS_THREAD | HAS_TYPE | HAS_STACK

const LETTER_D = 0x64
const LETTER_O = 0x6f
const LETTER_X = 0x78

const MIN_CAPACITY = 16
const USUAL_BYTES_PER_EVENT = 128

/** The result of reading an empty line. */
const NO_EVENTS = new EventBatch(0, 0, { format: NAME })

/** The reasons why a line cannot be read. */
interface BadLine {
  readonly make: typeof malformed
  readonly reason: string
  readonly place: Required<TracePosition>
}

export interface HeapmonDecodeOptions extends TextDecodeOptions {
  /**
   * Skip, report and count lines that match no rule or are too long, instead of failing at the first. Default false.
   */
  skipBad?: boolean
}

/** Decodes heap monitoring files. */
export class HeapmonDecoder extends LineDecoder {
  private readonly names = new KnownNames()
  private readonly crawls = new StackCrawls(this.names)
  private readonly bad: BadLines | undefined
  private header: TraceHeader | undefined
  /** Whether the next line is the header row of another file. */
  private atHeaderRow = false

  constructor(options: HeapmonDecodeOptions = {}) {
    super(NAME, MAX_LINE, options, { skipBad: 'boolean' })
    if (options.skipBad === true) this.bad = new BadLines(this.warnings)
  }

  override endTruncated(): void {
    this.bad?.finish()
  }

  /** Of a file with empty lines only. */
  protected override emptyHeader(): TraceHeader {
    return headerOf(DEFAULT_LAYOUT)
  }

  protected override isNews(batch: EventBatch): boolean {
    return batch.count > 0 || (batch !== NO_EVENTS && this.failure === null && this.isNewHeader(batch))
  }

  protected override finish(): void {
    this.bad?.finish()
  }

  protected override read(): EventBatch {
    if (this.atHeaderRow) {
      // Another file was appended to the first.
      this.atHeaderRow = false
      this.header = headerOf(layoutOfLine(this.input.bytes, this.input.pos, true))
      this.passLine()
    }
    this.header ??= this.readFirst()
    if (this.header === undefined) return NO_EVENTS
    return this.input.pos === this.linesEnd ? new EventBatch(0, 0, this.header) : this.readRows(this.header)
  }

  /**
   * Skips an empty line. Any other one shows the layout, and is skipped if it is the header row.
   * @returns the header, unless the line is empty
   */
  private readFirst(): TraceHeader | undefined {
    const { input } = this
    const { bytes, pos } = input
    let p = pos
    while (bytes[p] === SPACE || bytes[p] === TAB) p++
    if (bytes[p] === LF || (bytes[p] === CR && bytes[p + 1] === LF)) {
      this.passLine()
      return undefined
    }
    const headerRow = bytes[p] === HEADER_ROW_START && headerRowEnd(bytes, p) >= 0
    const header = headerOf(layoutOfLine(bytes, pos, headerRow))
    if (headerRow) this.passLine()
    return header
  }

  private newBatch(header: TraceHeader): EventBatch {
    const { input } = this
    const perEvent = this.events === 0 ? USUAL_BYTES_PER_EVENT : input.offset / this.events
    // Slightly more than the mean, so that the last lines of a chunk rarely need a separate batch.
    const capacity = Math.ceil(((this.linesEnd - input.pos) / perEvent) * 1.1)
    return new EventBatch(Math.min(BATCH_EVENTS, Math.max(MIN_CAPACITY, capacity)), COLUMNS, header)
  }

  /** Reads lines into a new batch until it is full, the lines are used up, one is faulty, or a header row follows. */
  private readRows(header: TraceHeader): EventBatch {
    const { input, linesEnd, names, crawls } = this
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

    for (; p < linesEnd && i < capacity && strings.byteLength <= BATCH_STRING_BYTES; start = p) {
      const at = 2 * i
      let fields = 0
      let expected = ''

      row: {
        let c = bytes[p]
        while (c === SPACE || c === TAB) c = bytes[++p]
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
              this.atHeaderRow = true
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
          q = bytes[p] !== ZERO ? ~p : (bytes[p + 1] | 32) !== LETTER_X ? ~(p + 1) : hex(bytes, p + 2, address, at)
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

        c = bytes[q]
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
        c = bytes[p]
        while (c === SPACE || c === TAB) c = bytes[++p]
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
        this.fault(start, ~p, expected, line, i)
        if (this.failure !== null) break
        p = bytes.indexOf(LF, ~p)
        fields = 0
      } else if (p - start >= MAX_LINE) {
        this.reject(this.longLine({ ...this.here(i), offset: this.offsetOf(start), line }))
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
  private fault(start: number, at: number, expected: string, line: number, pending: number): void {
    const { input } = this
    const place = { ...this.here(pending), offset: this.offsetOf(start), line }
    if (input.bytes.indexOf(LF, start) - start >= MAX_LINE) return this.reject(this.longLine(place))
    const exact = { ...place, offset: this.offsetOf(at), column: at - start + 1 }
    if (this.unterminated && at === input.end - 1)
      this.reject({ make: truncated, reason: `the last line is incomplete: expected ${expected}`, place: exact })
    else this.reject({ make: malformed, reason: `expected ${expected}`, place: exact })
  }

  private offsetOf(at: number): number {
    return this.input.offset + at - this.input.pos
  }

  private longLine(place: Required<TracePosition>): BadLine {
    return { make: limit, reason: `a line of more than ${MAX_LINE} bytes`, place }
  }

  protected override refuseLine(): void {
    this.reject(this.longLine(this.here()))
    if (this.failure !== null) throw this.failure
  }

  private reject({ make, reason, place }: BadLine): void {
    if (this.bad === undefined) this.failure = make(reason, place)
    else {
      const { event: _, ...at } = place
      this.bad.add(reason, at)
    }
  }
}
