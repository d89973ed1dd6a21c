import * as Line from '../../kernel/layouts/heaptrack.js'
import { HI, LO, WORD } from '../../bytes/u64.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../../event/batch.js'
import { limit, malformed, truncated, type TraceError } from '../../event/error.js'
import { fieldSet, FieldBit, Kind } from '../../event/fields.js'
import type { TextDecodeOptions } from '../../event/format.js'
import type { TraceHeader } from '../../event/header.js'
import { StringTable } from '../../event/strings.js'
import { LineDecoder } from '../../text/line-decoder.js'
import { LineEnds } from '../../text/line-ends.js'
import { Definitions, Fault, LIMITS } from './definitions.js'
import { readHead } from './head.js'
import { InfoBlocks } from './info-blocks.js'
import { heaptrackKernel, type HeaptrackKernel } from './kernel.js'
import { DEFAULT_LAYOUT, headerOf, MAX_LINE, NAME, NEWEST, type HeaptrackLayout } from './layout.js'
import { LiveBlocks } from './live-blocks.js'
import { OtherEvents } from './other-events.js'
import { Definition } from './pending.js'
import { FULL, Stacks } from './stacks.js'

const { alloc: ALLOC, free: FREE } = Kind
const COLUMNS = fieldSet('address', 'size', 'time', 'stack')
const TIME = FieldBit.time
/** The number that stands for no node. */
const NO_NUMBER = -1
const NOTHING = new EventBatch(0, 0, headerOf(DEFAULT_LAYOUT))
const BLOCK = fieldSet('address', 'time')
const SIZED = fieldSet('address', 'size', 'time')
/** The names of batches with infos. */
const INFO_COLUMNS = fieldSet('size', 'time', 'stack', 'line')
const INTRODUCED = fieldSet('size', 'time')
const STACK = FieldBit.stack

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
  /** In place of `blocks`, if batches have infos. */
  private infos: InfoBlocks | undefined
  private wantsInfos = false
  private readonly others = new OtherEvents()
  protected override readonly lineEnds = new LineEnds()
  private odd = 0
  private firstOdd = 0
  /** The minimum number of bytes with which reading the first lines is tried again. */
  private headLength = 0
  /** The fault of the row at which reading stopped. */
  private fault: string | undefined
  /** The row of a last line without a line feed, or -1. */
  private cutRow = -1

  constructor(options?: TextDecodeOptions) {
    super(NAME, MAX_LINE, options)
  }

  /**
   * Makes batches have infos, except those of raw files, which have addresses. In both, each frame of the tree of
   * stacks comes once.
   */
  giveInfos(): void {
    this.wantsInfos = true
  }

  dispose(): void {
    this.infos?.dispose()
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
    const { infos } = this
    const kernel = infos?.kernel(this.definitions.tables.infos) ?? heaptrackKernel()
    const from = kernel.input.load(input, this.linesEnd, Math.min(left, LEAST))
    const rows = kernel.run.decode(from, kernel.input.end)
    const batch = EventBatch.unfilled(
      Math.min(BATCH_EVENTS, rows + 16),
      infos === undefined ? COLUMNS : INFO_COLUMNS,
      header,
      new StringTable(this.stacks.tree),
    )
    if (rows === 0) {
      this.failure = this.tooLong()
      return batch
    }
    this.stacks.begin(batch.strings)
    infos?.begin(batch)
    const isAll = this.ended && this.unterminated && kernel.end[rows - 1] - from === left
    this.cutRow = isAll ? rows - 1 : -1
    const done = this.readRows(batch, kernel, from, rows)
    batch.infos = infos?.infos
    const end = done === 0 ? from : kernel.end[done - 1]
    const fault = this.fault
    this.fault = undefined
    input.skip(end - from)
    this.line += done
    if (fault !== undefined) this.failure = this.errorOf(fault, batch.count, done === this.cutRow)
    return batch
  }

  /** Converts rows to events. @returns the number of rows used; `fault` is set if the next one is wrong */
  private readRows(batch: EventBatch, kernel: HeaptrackKernel, from: number, rows: number): number {
    const { definitions, stacks, blocks, infos, others } = this
    const { time } = others
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
        others.comment(batch, i++, pending.next())
        continue
      }
      const lo = 2 * row + LO
      const hi = 2 * row + HI
      const to = 2 * i + LO
      const toHi = 2 * i + HI
      const op = operation[row]
      if (infos !== undefined && pending.size === 0 && (op === Line.FREE || op === Line.ALLOC_INFO)) {
        const count = infos.read(batch, i, row, rows)
        if (count > 0) {
          others.isUnsaid = false
          others.fillTimes(times, i, i + count)
          i += count
          row += count
          continue
        }
      }
      if (op === Line.FREE) {
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
          address[to] = first[lo]
          address[toHi] = first[hi]
        } else {
          if (!tables.hasInfo(first[lo], first[hi])) {
            this.fault = Fault.info
            break
          }
          if (infos !== undefined) {
            mask[i] = TIME
            if (!infos.free(first[lo], i)) this.note(row)
          } else if (blocks.free(first[lo])) {
            address[to] = blocks.address[LO]
            address[toHi] = blocks.address[HI]
          } else {
            mask[i] = TIME
            this.note(row)
          }
        }
      } else if (op === Line.ALLOC || op === Line.ALLOC_INFO) {
        const info = first[lo]
        if ((op === Line.ALLOC) !== raw) this.fault = raw ? Fault.noAddress : Fault.address
        else if (raw && !tables.hasNode(second[lo], second[hi])) this.fault = Fault.node
        else if (!raw && !tables.hasInfo(info, first[hi])) this.fault = Fault.info
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
        const isKnown = infos !== undefined && infos.isKnown(info)
        let fields = isKnown ? TIME : infos === undefined ? SIZED : INTRODUCED
        if (node !== 0 && !isKnown) {
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
          address[to] = third[lo]
          address[toHi] = third[hi]
          size[to] = first[lo]
          size[toHi] = first[hi]
        } else {
          const { infoSize } = tables
          size[to] = infoSize[2 * info + LO]
          size[toHi] = infoSize[2 * info + HI]
          const isDone = infos?.allocate(info, i) ?? blocks.allocate(info, size[to], size[toHi])
          if (!isDone) {
            this.fault = Fault.addresses
            break
          }
          if (infos === undefined) {
            address[to] = blocks.address[LO]
            address[toHi] = blocks.address[HI]
          }
        }
        mask[i] = fields
        kind[i] = ALLOC
      } else if (op === Line.NODE || op === Line.INFO) {
        if (this.leaveOut(row) > 0) {
          row++
          continue
        }
        this.fault = op === Line.NODE ? definitions.node(first, second, row) : definitions.info(first, second, row)
        if (this.fault !== undefined) break
        row++
        continue
      } else {
        const start = row === 0 ? from : end[row - 1]
        const lineEnd = end[row] - 1
        if (lineEnd - start > MAX_LINE) this.fault = Fault.line
        else if (op === Line.WRONG) this.fault = Fault.numbers
        else if (op === Line.TEXT && definitions.beginsAnother(memory, start)) this.fault = Fault.another
        if (this.fault !== undefined) break
        if (op === Line.TEXT && definitions.isOne(memory, start)) {
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
        // Like long stacks, long comments are left to the next batch.
        if (i > 0 && batch.strings.byteLength > BATCH_STRING_BYTES) break
        if (op === Line.TIME && others.isUnsaid) {
          others.tick(batch, i++)
          continue
        }
        if (op === Line.TIME && others.isLater(first[lo], first[hi])) {
          others.setTime(first[hi] * WORD + first[lo])
          others.isUnsaid = true
          row++
          continue
        }
        if (op === Line.TEXT || !others.number(batch, i, kernel, row)) {
          const line = memory.subarray(start, lineEnd)
          if (op !== Line.TEXT || !definitions.remark(line)) this.note(row)
          others.comment(batch, i, line)
        }
      }
      others.isUnsaid = false
      times[to] = time[LO]
      times[toHi] = time[HI]
      i++
      row++
    }
    batch.count = i
    return row
  }

  protected override rest(): EventBatch | null {
    const { others } = this
    if (!others.isUnsaid) return null
    if (!this.takesLastLine) throw truncated('a time comes last, without what happened then', this.here())
    const batch = new EventBatch(1, COLUMNS, this.emptyHeader())
    others.tick(batch, 0)
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
    if (length < this.headLength && !this.mustRead) return false
    const head = readHead(input.bytes, input.pos, this.linesEnd, this.mustRead)
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
    if (head.layout.pageSize !== undefined) this.others.pageSize = head.layout.pageSize
    this.definitions = new Definitions(head.layout)
    this.stacks = new Stacks(this.definitions.tables, head.layout.raw, this.wantsInfos)
    this.header = headerOf(head.layout)
    if (this.wantsInfos && !head.layout.raw) this.infos = new InfoBlocks()
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
