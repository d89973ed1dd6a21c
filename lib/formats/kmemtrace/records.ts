import type { Input } from '../../bytes/input.js'
import { HI, LO, WORD } from '../../bytes/u64.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, type EventBatch } from '../../event/batch.js'
import { FieldBit, Kind, fieldSet } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import { StringTable } from '../../event/strings.js'
import { areFeatures } from './features.js'
import { formOf, kmemtraceKernel } from './kernel.js'
import * as Layout from './layout.js'

const { api: HAS_API, attributes: HAS_ATTRIBUTES, code: HAS_CODE, count: HAS_COUNT } = FieldBit
const { alloc: ALLOC, free: FREE } = Layout.EventId

const CORE_FIELDS = fieldSet('address', 'callSite')
const ALLOC_FIELDS = fieldSet('size', 'usable', 'gfpFlags', 'node')

/** The maximum number of records to read one by one before the kernel is called again. */
const MOST_WANTED = 64

/** The columns of the kernel, for single events. They belong to the reader whose `read` is running. */
let columns: EventBatch | undefined

/** Reads records into batches: the usual ones with the kernel, and the others one by one. */
export class RecordReader {
  /** The fault of the record at the input's position, if any. Nothing more is read then. */
  fault: string | undefined
  /** Whether the last batch accepts no more records. */
  full = false
  /** The number of all-zero records. */
  allZeros = 0
  /** The offset of the first all-zero record; -1 if there is none. */
  firstZero = -1
  /** The offset and row of the first record followed by bytes that are not features; -1 if there is none. */
  stray = -1
  strayRow = -1
  private readonly form: number
  private readonly little: boolean
  private readonly timed: boolean
  private readonly wide: boolean
  private readonly callSiteAt: number
  private readonly core: number
  private readonly alloc: number
  /** Fields that every record has. */
  private readonly shared: number
  /** All-zero records that are not part of an event yet. */
  private zeros = 0
  /** The current batch: its number of events, its columns, and its strings if any. */
  private count = 0
  private fields = 0
  private strings: StringTable | undefined

  /**
   * @param header the header of all batches
   * @param cpu the CPU of all records, if they do not contain it
   */
  constructor(
    layout: Layout.KmemtraceLayout,
    private readonly header: TraceHeader,
    private readonly cpu: number | undefined,
  ) {
    this.form = formOf(layout)
    this.little = layout.byteOrder === 'little'
    this.timed = layout.layout === 'ftrace'
    this.wide = layout.wordSize === 8
    this.callSiteAt = Layout.callSiteAt(layout)
    this.core = Layout.coreSize(layout)
    this.alloc = Layout.allocSize(layout)
    this.shared =
      CORE_FIELDS |
      (this.timed ? fieldSet('cpu', 'time') : fieldSet('sequence')) |
      (cpu === undefined ? 0 : FieldBit.cpu)
  }

  /** Counts all-zero records at this offset. */
  addZeros(n: number, offset: number): void {
    if (this.allZeros === 0) this.firstZero = offset
    this.zeros += n
    this.allZeros += n
  }

  /**
   * Reads whole records, until they end, the batch is full, or one has a `fault`.
   * @param isAll the input is complete: all-zero records become an event, even if no other record follows
   * @returns the events, possibly none
   */
  read(input: Input, isAll: boolean): EventBatch {
    const { run, columns: memory, input: window } = kmemtraceKernel()
    const { form, core, shared } = this
    const batch = (columns ??= memory.view(new StringTable()))
    this.count = 0
    this.fields = 0
    this.strings = undefined
    this.full = false
    let view: DataView | undefined
    // The number of records to read one by one before the kernel is called again, because unusual records mostly follow
    // each other.
    let wanted = 1
    let left = 0
    while (this.fault === undefined && !this.full && this.count < BATCH_EVENTS) {
      if (this.zeros === 0 && left === 0) {
        const from = window.load(input)
        const rows = run.decode(form, from, window.end, this.count, BATCH_EVENTS, shared)
        const n = rows - this.count
        if (n > 0) {
          const length = run.position.value - from
          input.skip(length)
          this.count = rows
          this.fields |= shared | HAS_API | (length > n * core ? ALLOC_FIELDS : 0)
          wanted = 1
          continue
        }
        left = wanted
        wanted = Math.min(2 * wanted, MOST_WANTED)
      }
      view ??= new DataView(input.bytes.buffer, input.bytes.byteOffset, input.end)
      if (!this.readOne(batch, input, view)) break
      if (left > 0) left--
    }
    this.full ||= this.count === BATCH_EVENTS
    if (!this.full && (isAll || this.fault !== undefined)) this.tellZeros(batch)
    const taken = memory.take(this.count, this.fields, this.header, this.strings)
    if (this.cpu !== undefined) taken.cpu.fill(this.cpu)
    return taken
  }

  /** Reads a record of any kind. @returns whether it was complete and valid */
  private readOne(batch: EventBatch, input: Input, view: DataView): boolean {
    const { little, core, alloc } = this
    const { bytes, pos: start, end } = input
    if (end - start < Layout.HEAD) return false
    const event = bytes[start]
    const type = bytes[start + 1]
    const length = view.getUint16(start + 2, little)
    const mandatory = event === ALLOC ? alloc : core
    if (length < mandatory) {
      if (length === 0 && event === 0 && type === 0) {
        if (end - start < core) return false
        if (Layout.isZero(bytes, start, start + core)) {
          this.addZeros(1, input.offset)
          input.pos += core
          return true
        }
      }
      this.fault = `a record of ${length} bytes, where ${mandatory} are the least`
      return false
    }
    if (this.zeros > 0) {
      this.tellZeros(batch)
      return true
    }
    if (end - start < length) return false

    const i = this.count++
    let fields = this.readFields(batch, i, view, start)
    batch.kind[i] = event === ALLOC ? Kind.alloc : event === FREE ? Kind.free : Kind.other
    if (type >= Layout.TYPES || event > FREE) {
      batch.code[i] = event | (type << 8)
      fields |= HAS_CODE
    } else {
      batch.api[i] = (event === ALLOC ? Layout.ALLOC_APIS : Layout.FREE_APIS)[type]
      fields |= HAS_API
    }
    if (length > mandatory) {
      this.strings ??= new StringTable()
      batch.attributes[i] = this.strings.intern(bytes, start + mandatory, start + length)
      fields |= HAS_ATTRIBUTES
      if (event <= FREE && this.stray < 0 && !areFeatures(bytes, start + mandatory, start + length, little)) {
        this.stray = input.offset
        this.strayRow = i
      }
      this.full = this.strings.byteLength > BATCH_STRING_BYTES
    }
    batch.mask[i] = fields
    this.fields |= fields
    input.pos += length
    return true
  }

  /** Reads the fields at fixed offsets of the record at `start`. @returns the set of these fields */
  private readFields(batch: EventBatch, i: number, view: DataView, start: number): number {
    const { little, timed, core } = this
    const step = this.wide ? 8 : 4
    const at = start + this.callSiteAt
    const number = timed ? batch.cpu : batch.sequence
    number[i] = view.getInt32(start + Layout.HEAD, little)
    if (timed) readWord(batch.time.words, i, view, start + 8, little, true)
    readWord(batch.callSite.words, i, view, at, little, this.wide)
    readWord(batch.address.words, i, view, at + step, little, this.wide)
    if (view.getUint8(start) !== ALLOC) return this.shared
    const behind = start + core
    readWord(batch.size.words, i, view, behind, little, this.wide)
    readWord(batch.usable.words, i, view, behind + step, little, this.wide)
    batch.gfpFlags[i] = view.getUint32(behind + 2 * step, little)
    batch.node[i] = view.getInt32(behind + 2 * step + 4, little)
    return this.shared | ALLOC_FIELDS
  }

  /** Adds an event for the all-zero records so far, if there are any. */
  private tellZeros(batch: EventBatch): void {
    if (this.zeros === 0) return
    const i = this.count++
    batch.kind[i] = Kind.lost
    batch.elements.words[2 * i + LO] = this.zeros
    batch.elements.words[2 * i + HI] = Math.floor(this.zeros / WORD)
    batch.mask[i] = HAS_COUNT | (this.shared & (this.timed ? 0 : FieldBit.cpu))
    this.fields |= batch.mask[i]
    this.zeros = 0
  }
}

/** Reads a number of 64 bits, or of 32, to element i of a column. */
function readWord(words: Uint32Array, i: number, view: DataView, at: number, little: boolean, wide: boolean): void {
  words[2 * i + LO] = view.getUint32(wide && !little ? at + 4 : at, little)
  words[2 * i + HI] = wide ? view.getUint32(little ? at + 4 : at, little) : 0
}
