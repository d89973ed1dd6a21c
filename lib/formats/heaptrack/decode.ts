import { HI, LO, WORD } from '../../bytes/u64.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../../event/batch.js'
import { limit, malformed, truncated, type TraceError } from '../../event/error.js'
import { fieldSet, FieldBit, Kind } from '../../event/fields.js'
import type { TextDecodeOptions } from '../../event/format.js'
import type { TraceHeader } from '../../event/header.js'
import { StringTable } from '../../event/strings.js'
import { LineDecoder } from '../../text/line-decoder.js'
import { Definitions, Fault, LIMITS } from './definitions.js'
import { readHead } from './head.js'
import { heaptrackKernel, Operation, type HeaptrackKernel } from './kernel.js'
import {
  Code,
  DEFAULT_LAYOUT,
  DEFAULT_PAGE_SIZE,
  headerOf,
  MAX_LINE,
  MAX_MILLISECONDS,
  NAME,
  NEWEST,
  type HeaptrackLayout,
} from './layout.js'
import { LiveBlocks } from './live-blocks.js'
import { u64 } from './modules.js'
import { Definition } from './pending.js'
import { FULL, Stacks } from './stacks.js'

const { alloc: ALLOC, free: FREE, comment: COMMENT, other: OTHER } = Kind
const COLUMNS = fieldSet('address', 'size', 'time', 'stack')
const RARE = fieldSet('text', 'code', 'present')
const TIME = FieldBit.time
/** The number of no node. */
const NO_NUMBER = -1
const NOTHING = new EventBatch(0, 0, headerOf(DEFAULT_LAYOUT))
const BLOCK = fieldSet('address', 'time')
const SIZED = fieldSet('address', 'size', 'time')
const STACK = FieldBit.stack
const REMARK = fieldSet('time', 'text')
const TICK = fieldSet('time', 'code')
const RESIDENT = fieldSet('time', 'code', 'present')

/** The amount of input to request, so that a line is available unless it is too long. */
const LEAST = 2 * MAX_LINE

/**
 * Decodes the files of heaptrack: raw ones, as the preloaded library writes them, and interpreted ones. The text must
 * have been decompressed.
 */
export class HeaptrackDecoder extends LineDecoder {
  private header: TraceHeader | undefined
  private layout: HeaptrackLayout = DEFAULT_LAYOUT
  private definitions!: Definitions
  private stacks!: Stacks
  private readonly blocks = new LiveBlocks()
  /** The time in milliseconds, and in microseconds as words. */
  private milliseconds = 0
  private readonly time = new Uint32Array(2)
  /** The time was read, and no event since. */
  private isUnsaid = false
  private odd = 0
  private firstOdd = 0
  /** The least number of bytes with which reading the first lines is tried again. */
  private headLength = 0
  /** The fault of the row at which reading stopped. */
  private fault: string | undefined
  /** The row of a last line without a line feed, or -1. */
  private cutRow = -1

  constructor(options?: TextDecodeOptions) {
    super(NAME, MAX_LINE, options)
  }

  protected override emptyHeader(): TraceHeader {
    if (this.header === undefined) throw truncated('the line with the versions is missing', this.here())
    return this.header
  }

  protected override read(): EventBatch {
    const { input } = this
    if (this.header === undefined && !this.begin()) return NOTHING
    const header = this.header as TraceHeader
    const left = this.linesEnd - input.pos
    if (left === 0) return NOTHING
    const kernel = heaptrackKernel()
    const from = kernel.input.load(input, this.linesEnd, Math.min(left, LEAST))
    const rows = kernel.run.decode(from, kernel.input.end)
    const batch = EventBatch.unfilled(
      Math.min(BATCH_EVENTS, rows + 16),
      COLUMNS,
      header,
      new StringTable(this.stacks.tree),
    )
    if (rows === 0) {
      this.failure = this.tooLong()
      return batch
    }
    this.stacks.begin(batch.strings)
    const isAll = this.ended && this.unterminated && (kernel.end[rows - 1] as number) - from === left
    this.cutRow = isAll ? rows - 1 : -1
    const done = this.readRows(batch, kernel, from, rows)
    const end = done === 0 ? from : (kernel.end[done - 1] as number)
    const fault = this.fault
    this.fault = undefined
    input.skip(end - from)
    this.line += done
    if (fault !== undefined) this.failure = this.errorOf(fault, batch.count, done === this.cutRow)
    return batch
  }

  /** Converts rows to events. @returns the number of rows used; `fault` is set if the next one is wrong */
  private readRows(batch: EventBatch, kernel: HeaptrackKernel, from: number, rows: number): number {
    const { definitions, stacks, blocks, time } = this
    const { tables, pending } = definitions
    const { operation, first, second, third, end, memory } = kernel
    const { mask, kind, stack, capacity } = batch
    const { words: address } = batch.address
    const { words: size } = batch.size
    const { words: times } = batch.time
    const { raw } = this.layout
    let i = 0
    let row = 0
    while (row < rows && i < capacity) {
      if (pending.size > 0 && pending.isDue) {
        this.comment(batch, i++, pending.next())
        continue
      }
      const lo = 2 * row + LO
      const hi = 2 * row + HI
      const to = 2 * i + LO
      const toHi = 2 * i + HI
      const op = operation[row] as number
      if (op === Operation.free) {
        if (pending.size > 0) {
          pending.event(Definition.node, NO_NUMBER)
          if (pending.isDue) {
            row += this.leaveOut(row)
            continue
          }
        }
        kind[i] = FREE
        mask[i] = BLOCK
        if (raw) {
          address[to] = first[lo] as number
          address[toHi] = first[hi] as number
        } else {
          if (!tables.hasInfo(first[lo] as number, first[hi] as number)) {
            this.fault = Fault.info
            break
          }
          if (blocks.free(first[lo] as number)) {
            address[to] = blocks.address[LO] as number
            address[toHi] = blocks.address[HI] as number
          } else {
            mask[i] = TIME
            this.note(row)
          }
        }
      } else if (op === Operation.alloc || op === Operation.allocInfo) {
        const info = first[lo] as number
        if ((op === Operation.alloc) !== raw) this.fault = raw ? Fault.noAddress : Fault.address
        else if (raw && !tables.hasNode(second[lo] as number, second[hi] as number)) this.fault = Fault.node
        else if (!raw && !tables.hasInfo(info, first[hi] as number)) this.fault = Fault.info
        if (this.fault !== undefined) break
        const node = (raw ? second[lo] : tables.infoNode[info]) as number
        if (pending.size > 0) {
          if (raw) pending.event(Definition.node, node)
          else pending.event(Definition.info, info)
          if (pending.isDue) {
            row += this.leaveOut(row)
            continue
          }
        }
        let fields = SIZED
        if (node !== 0) {
          const list = stacks.list(node)
          if (list === FULL && i > 0) break
          if (list < 0) {
            this.fault = Fault.stack
            break
          }
          stack[i] = list
          fields |= STACK
        }
        if (raw) {
          address[to] = third[lo] as number
          address[toHi] = third[hi] as number
          size[to] = first[lo] as number
          size[toHi] = first[hi] as number
        } else {
          const { infoSize } = tables
          size[to] = infoSize[2 * info + LO] as number
          size[toHi] = infoSize[2 * info + HI] as number
          if (!blocks.allocate(info, size[to] as number, size[toHi] as number)) {
            this.fault = Fault.addresses
            break
          }
          address[to] = blocks.address[LO] as number
          address[toHi] = blocks.address[HI] as number
        }
        mask[i] = fields
        kind[i] = ALLOC
      } else if (op === Operation.node || op === Operation.info) {
        if (this.leaveOut(row) > 0) {
          row++
          continue
        }
        this.fault = op === Operation.node ? definitions.node(first, second, row) : definitions.info(first, second, row)
        if (this.fault !== undefined) break
        row++
        continue
      } else {
        const start = row === 0 ? from : (end[row - 1] as number)
        const lineEnd = (end[row] as number) - 1
        if (op === Operation.wrong) this.fault = Fault.numbers
        else if (lineEnd - start > MAX_LINE) this.fault = Fault.line
        if (this.fault !== undefined) break
        if (op === Operation.text && definitions.isOne(memory, start)) {
          if (this.leaveOut(row) > 0) {
            row++
            continue
          }
          const isPlain = definitions.line(memory, start, lineEnd)
          this.fault = definitions.fault
          if (this.fault !== undefined) break
          if (!isPlain) this.note(row)
          row++
          continue
        }
        if (pending.size > 0) {
          pending.event(Definition.node, NO_NUMBER)
          if (pending.isDue) {
            row += this.leaveOut(row)
            continue
          }
        }
        // As with stacks, long comments are left to the next batch.
        if (i > 0 && batch.strings.byteLength > BATCH_STRING_BYTES) break
        if (op === Operation.time && this.isUnsaid) {
          this.tick(batch, i++)
          continue
        }
        if (op === Operation.time && this.isLater(first[lo] as number, first[hi] as number)) {
          this.setTime((first[hi] as number) * WORD + (first[lo] as number))
          this.isUnsaid = true
          row++
          continue
        }
        if (op === Operation.text || !this.number(batch, i, kernel, row)) {
          const line = memory.subarray(start, lineEnd)
          if (op !== Operation.text || !definitions.remark(line)) this.note(row)
          this.comment(batch, i, line)
        }
      }
      this.isUnsaid = false
      times[to] = time[LO] as number
      times[toHi] = time[HI] as number
      i++
      row++
    }
    batch.count = i
    return row
  }

  /** Whether a time in milliseconds is later than the current one, and not too large. */
  private isLater(lo: number, hi: number): boolean {
    const value = hi * WORD + lo
    return value > this.milliseconds && value <= MAX_MILLISECONDS
  }

  private setTime(milliseconds: number): void {
    this.milliseconds = milliseconds
    this.time[LO] = (milliseconds * 1000) >>> 0
    this.time[HI] = Math.floor((milliseconds * 1000) / WORD)
  }

  /** Stores the time as event i: a line with a time that no event follows is an event. */
  private tick(batch: EventBatch, i: number): void {
    this.isUnsaid = false
    batch.addColumns(RARE)
    batch.kind[i] = OTHER
    batch.mask[i] = TICK
    batch.code[i] = Code.time
    batch.time.words[2 * i + LO] = this.time[LO] as number
    batch.time.words[2 * i + HI] = this.time[HI] as number
  }

  /**
   * Reads a repeated time, or the number of resident pages, as event i.
   * @returns whether the number is one of these
   */
  private number(batch: EventBatch, i: number, { operation, first }: HeaptrackKernel, row: number): boolean {
    batch.addColumns(RARE)
    batch.kind[i] = OTHER
    if (operation[row] === Operation.time) {
      const value = (first[2 * row + HI] as number) * WORD + (first[2 * row + LO] as number)
      if (value !== this.milliseconds) return false
      this.tick(batch, i)
      return true
    }
    const bytes = u64(first, 2 * row) * BigInt(this.layout.pageSize ?? DEFAULT_PAGE_SIZE)
    if (bytes >= 2n ** 64n) return false
    batch.code[i] = Code.resident
    batch.present.values[i] = bytes
    batch.mask[i] = RESIDENT
    return true
  }

  /** Reads a line as event i, a comment. */
  private comment(batch: EventBatch, i: number, line: Uint8Array): void {
    this.isUnsaid = false
    batch.addColumns(RARE)
    batch.kind[i] = COMMENT
    batch.mask[i] = REMARK
    batch.text[i] = batch.strings.intern(line)
    batch.time.words[2 * i + LO] = this.time[LO] as number
    batch.time.words[2 * i + HI] = this.time[HI] as number
  }

  protected override rest(): EventBatch | null {
    if (!this.isUnsaid) return null
    if (!this.takesLastLine) throw truncated('a time comes last, without what happened then', this.here())
    const batch = new EventBatch(1, COLUMNS, this.emptyHeader())
    this.tick(batch, 0)
    batch.count = 1
    return batch
  }

  protected override finish(): void {
    if (this.header === undefined) return
    const { pending } = this.definitions
    if (this.odd > 0)
      this.warnings.push(
        `${NAME}: lines that heaptrack does not write, which do not come back the same: ${this.odd}; the first is ` +
          `line ${this.firstOdd}`,
      )
    if (pending.size > 0 && !this.takesLastLine)
      throw truncated(`definitions come last (${pending.size}), without the event that they belong to`, this.here())
  }

  /** Reads the first lines of a trace. @returns false if more input is needed */
  private begin(): boolean {
    const { input } = this
    const length = this.linesEnd - input.pos
    if (length < this.headLength && !this.ended) return false
    const head = readHead(input.bytes, input.pos, this.linesEnd, this.ended)
    if (head === 'more') {
      // Reading it again for every line would take quadratic time.
      this.headLength = length + (length >> 3) + 1
      return false
    }
    if (head === 'none' || head === 'newer') {
      const newer = `the version of the file is newer than ${NEWEST}`
      this.fault = head === 'newer' ? newer : 'the line with the versions is missing'
      this.failure = this.errorOf(this.fault, 0, this.unterminated && this.linesEnd === input.end)
      return false
    }
    this.layout = head.layout
    this.definitions = new Definitions(head.layout)
    this.stacks = new Stacks(this.definitions.tables, head.layout.raw)
    this.header = headerOf(head.layout)
    input.skip(head.end - input.pos)
    this.line += head.lines
    return true
  }

  /**
   * Drops the last line if it has no line feed, because its definitions, and whether pending ones belong to it, are
   * uncertain.
   *
   * @returns the number of dropped lines
   */
  private leaveOut(row: number): number {
    if (row !== this.cutRow) return 0
    this.definitions.pending.clear()
    return 1
  }

  /** Counts a line that will not be written back unchanged. */
  private note(row: number): void {
    if (this.odd++ === 0) this.firstOdd = this.line + row
  }

  /** The error for the line at the input's position. @param isCut the line has no line feed */
  private errorOf(fault: string, pending: number, isCut: boolean): TraceError {
    const at = this.here(pending)
    if (fault === Fault.line) return this.tooLong(pending)
    if (LIMITS.includes(fault)) return limit(fault, at)
    return isCut ? truncated('the trace ends within a line', at) : malformed(fault, at)
  }
}
