import { doubleAt } from '../../bytes/u64.js'
import { EventBatch } from '../../event/batch.js'
import { MAX_FIELDS_LENGTH } from '../../event/json.js'
import { MAX_BYTES, MAX_RECORD, MAX_VALUES } from './header.js'
import { ANY, Mode, NUMBER, type Layout, type Plan, type SectionLayouts } from '../layout.js'
import { addPair, extendSign, readNumber, samePair } from '../pairs.js'
import { METADATA_PROPERTIES } from '../dtd/predefined.js'
import type { Tables } from './tables.js'

const { none: NONE, baseOffset: BASE_OFFSET, delta: DELTA, default: DEFAULT, stride: STRIDE } = Mode
const { sectionStride: SECTION_STRIDE } = Mode

/** The positions of the leaves of a metadata record, which are the same in all DTDs. */
export const Metadata = { record: 1, field: 2, property: 3, value: 4 } as const

/** In place of a position: there are not enough bytes. */
export const INCOMPLETE = -1
/** In place of a position: the record is invalid. */
export const FAULT = -2

const NOTHING = new Uint8Array(0)

/**
 * The object that generated code for reading records works on, with functions for everything not done inline. The
 * decoder sets the input and the batch before each call.
 */
export class BinaryReader {
  bytes: Uint8Array = NOTHING
  view: DataView = new DataView(NOTHING.buffer)
  /** The position of the next record; generated code advances it. */
  pos = 0
  /** The end of the bytes, or of the section. */
  end = 0
  batch: EventBatch = new EventBatch(0, 0, { format: '' })
  /** The maximum number of events of the batch. */
  limit = 0
  /** The number of data records according to the header, or 0, and the number of them still allowed. */
  said = 0
  left = 0
  /** The layouts of the current section. */
  section!: SectionLayouts
  /** The layout of the element or record that `next` has read. */
  layout!: Layout
  /**
   * The reason why generated code stopped: `INCOMPLETE`, `FAULT`, or 0 for a record that it does not know or a full
   * batch.
   */
  stop = 0
  /** The fault of the record, and whether it is an exceeded limit. */
  reason = ''
  isLimit = false
  /** The value that `number` has read. */
  readonly value = new Uint32Array(2)
  /** The values that `flat` has read, as pairs of words. */
  readonly words = new Uint32Array(16)

  constructor(
    readonly little: boolean,
    readonly tables: Tables,
  ) {}

  /** Sets the bytes to read: from `pos` to `end` of an input. */
  use(bytes: Uint8Array, pos: number, end: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    }
    this.pos = pos
    this.end = end
    this.stop = 0
  }

  tag(at: number, width: number): number {
    readNumber(this.bytes, at, width, this.little, this.value, 0)
    return doubleAt(this.value, 0)
  }

  /** Reads the number of leaf p at `at` into `value`. Returns the position after it, or a reason to stop. */
  number(layout: Layout, p: number, at: number): number {
    const { latest, fixed } = layout
    const { value } = this
    let width = layout.width[p]
    if (width < 0) width = doubleAt(latest, ~width)
    if (width > 8) return this.tooWide(layout, p, width)
    const after = at + width
    if (after > this.end) return INCOMPLETE
    readNumber(this.bytes, at, width, this.little, value, 0)
    if (layout.mode[p] !== NONE && !this.interpret(layout, p, width)) return FAULT
    latest[2 * p] = value[0]
    latest[2 * p + 1] = value[1]
    const from = fixed[p]
    if (from === ANY) return after
    const isSame = from === NUMBER ? samePair(value, 0, layout.fixedWords, 2 * p) : samePair(value, 0, latest, 2 * from)
    if (isSame) return after
    const { name, leaves } = layout.record
    return this.fail(`field ${leaves[p].name} of ${name} is not what it always is`)
  }

  /** Computes the value from the stored number, and advances the layout. Returns whether there is a value. */
  private interpret(layout: Layout, p: number, width: number): boolean {
    const { value, tables } = this
    const mode = layout.mode[p]
    if (mode === SECTION_STRIDE) {
      if (tables.take(layout.section[p], doubleAt(layout.stride, p), value, 0)) return true
      this.fail(`field ${layout.record.leaves[p].name} of ${layout.record.name}: ${tables.reason}`)
      return false
    }
    if (mode === BASE_OFFSET || mode === DELTA) extendSign(value, 0, width)
    interpret(layout, p, value)
    return true
  }

  /** Checks the width of the bytes of leaf p at `at`. Returns the position after them, or a reason to stop. */
  data(layout: Layout, p: number, at: number, width: number): number {
    if (width > MAX_BYTES) return this.tooWide(layout, p, width)
    return at + width > this.end ? INCOMPLETE : at + width
  }

  /** Bytes as a value of `fields`. */
  base64(from: number, to: number): string {
    const { bytes } = this
    return `"${Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('base64')}"`
  }

  /**
   * Finds the layout of the element or record at `pos`, for `layout`. Applies metadata, and adds elements to their
   * table; events are left for the caller. Returns the position after it, or a reason to stop.
   * @param where the name of the section in messages
   */
  next({ dtd, raw }: Plan, where: string | number = this.section.section.name): number {
    const { pos, section } = this
    const { id, element } = section.section
    let layout: Layout | undefined
    if (raw.has(id)) layout = section.raw
    else {
      const width = dtd.tagWidth as number
      if (this.end - pos < width) return INCOMPLETE
      const tag = this.tag(pos, width)
      layout = section.of(tag)
      if (layout === undefined) return this.fail(`unknown tag ${tag}${id === 0 ? '' : ` in section ${where}`}`)
    }
    this.layout = layout
    if (layout.mapping !== undefined) return pos
    const after = this.flat(layout)
    if (after < 0) return after
    if (after === pos) return this.fail(`section ${id} has elements of no bytes`)
    layout.commit()
    if (layout.record.role === 'metadata') {
      const at = (k: number) => doubleAt(this.words, k)
      const { record, field, property, value } = Metadata
      const reason = section.apply(at(record), at(field), at(property), this.words, 2 * value)
      if (reason !== '') return this.fail(reason)
    } else if (layout.record === element?.record) {
      const reason = this.tables.push(id, this.words, 2 * element.position)
      if (reason !== '') return this.fail(reason, true)
    }
    return after
  }

  /**
   * Reads a record without repetitions at `pos`, with its values in `words` up to eight: elements of tables, and
   * records that are no events.
   */
  flat(layout: Layout): number {
    const { isBytes, width, latest, record } = layout
    const { words, value } = this
    let at = this.pos
    let count = isBytes.length
    for (let k = 0; k < count && at >= 0; k++) {
      const p = Math.min(k, isBytes.length - 1)
      if (isBytes[p] === 1) at = this.data(layout, p, at, width[p] < 0 ? doubleAt(latest, ~width[p]) : width[p])
      else at = this.number(layout, p, at)
      words.set(value, 2 * Math.min(k, 7))
      if (at < 0 || record.role !== 'metadata') continue
      // The property determines the number of values, instead of one.
      if (k === Metadata.property) {
        const property = METADATA_PROPERTIES[doubleAt(value, 0)]
        if (property === undefined) return this.fail(`metadata with the unknown property ${doubleAt(value, 0)}`)
        count += property.values - 1
      } else if (
        k === Metadata.value + 1 &&
        words[2 * Metadata.property] + words[2 * Metadata.property + 1] === STRIDE
      ) {
        extendSign(words, 2 * k, width[p])
      }
    }
    if (at === INCOMPLETE) layout.undo()
    return at
  }

  /** Completes the record. */
  commit(layout: Layout): void {
    layout.commit()
    this.tables.commit()
  }

  /** Undoes the current record, which will be read again. */
  undo(layout: Layout): void {
    if (layout.moving === 0) return
    layout.undo()
    this.tables.rollback()
  }

  /** Reports a record that has too many bytes or repetitions. */
  tooLarge({ record: { name } }: Layout, length: number): number {
    const reason = length > MAX_RECORD ? `has more than ${MAX_RECORD} bytes` : 'repeats what takes no bytes too often'
    return this.fail(`record ${name} ${reason}`, true)
  }

  tooMany({ record }: Layout): number {
    return this.fail(`record ${record.name} has more than ${MAX_VALUES} values`, true)
  }

  tooLong(): number {
    return this.fail(`the values of an event take more than ${MAX_FIELDS_LENGTH} characters`, true)
  }

  /** Reports more data records than the header states. */
  excess(): number {
    return this.fail(`there are more records than the ${this.said} that the header says`)
  }

  fail(reason: string, isLimit = false): typeof FAULT {
    this.reason = reason
    this.isLimit = isLimit
    return FAULT
  }

  private tooWide({ record, isBytes }: Layout, p: number, width: number): typeof FAULT {
    const field = `field ${record.leaves[p].name} of ${record.name}`
    if (isBytes[p] === 1) return this.fail(`${field} has ${width} bytes, more than ${MAX_BYTES}`, true)
    return this.fail(`${field} has ${width} bytes, but a number has at most 8`)
  }
}

/** Computes the value of leaf p from the stored number, with its sign, and keeps it as the previous value. */
export function interpret(
  { mode, reference, referenceFrom, latest, stride }: Layout,
  p: number,
  value: Uint32Array,
): void {
  const from = referenceFrom[p]
  const base = from < 0 ? reference : latest
  const at = 2 * (from < 0 ? p : from)
  switch (mode[p]) {
    case BASE_OFFSET:
      addPair(value, 0, base, at)
      break
    case DEFAULT:
      value[0] = base[at]
      value[1] = base[at + 1]
      break
    case STRIDE:
    case DELTA:
      if (mode[p] === STRIDE) {
        value[0] = stride[2 * p]
        value[1] = stride[2 * p + 1]
      }
      addPair(value, 0, reference, 2 * p)
      reference[2 * p] = value[0]
      reference[2 * p + 1] = value[1]
      break
    default:
    // The offset of sectionOffset is the value.
  }
}
