import * as Code from '../../../lib/kernel/layouts/hatf.js'
import { HI, LO } from '../../../lib/bytes/u64.js'
import { Sink } from '../../../lib/bytes/sink.js'
import type { FieldStates } from './fields.js'
import { FIELD_NAMES, HEAD, writeWord } from '../../../lib/formats/hatf/layout.js'
import { Given, type Records } from './records.js'

/** Metadata records to be written, and before which records. */
export class Plan {
  /** How many metadata records there are. */
  count = 0
  /** Per metadata record, the index of the record it goes before, never descending. */
  before = new Uint32Array(16)
  /** The metadata records as they will be written, one behind the other. */
  readonly sink = new Sink(256)

  /** Forgets all of it. */
  reset(): void {
    this.count = 0
    this.sink.pos = 0
  }

  /** Sets a field's width, a width code, before record r. */
  setWidth(r: number, field: number, width: number): void {
    this.head(r, Code.FIELD_SIZE, field, width)
  }

  /**
   * Sets a field's interpretation before record r.
   * @param lo @param hi the default, base or initial value, where the interpretation has one
   * @param strideLo @param strideHi the stride, where the interpretation is stride
   */
  setInterpretation(
    r: number,
    field: number,
    interpretation: number,
    lo = 0,
    hi = 0,
    strideLo = 0,
    strideHi = 0,
  ): void {
    this.head(r, Code.FIELD_INTERPRETATION, field, interpretation)
    if (interpretation === Code.NONE) return
    this.pair(lo, hi)
    if (interpretation === Code.STRIDE) this.pair(strideLo, strideHi)
  }

  /** Adds a copy of a metadata record before record r. */
  add(r: number, metadata: Uint8Array): void {
    this.goBefore(r)
    this.sink.append(metadata)
  }

  private goBefore(r: number): void {
    if (this.count === this.before.length) {
      const bigger = new Uint32Array(2 * this.count)
      bigger.set(this.before)
      this.before = bigger
    }
    this.before[this.count++] = r
  }

  private head(r: number, op: number, field: number, setting: number): void {
    this.goBefore(r)
    const { sink } = this
    sink.reserve(HEAD + 16)
    sink.bytes[sink.pos++] = Code.TAG_METADATA
    sink.bytes[sink.pos++] = op
    sink.bytes[sink.pos++] = field
    sink.bytes[sink.pos++] = setting
  }

  private pair(lo: number, hi: number): void {
    const { sink } = this
    writeWord(sink.bytes, sink.pos, hi)
    writeWord(sink.bytes, sink.pos + 4, lo)
    sink.pos += 8
  }
}

/**
 * Decides how the fields of a block of records are laid out: which metadata goes before which record. The rules:
 * - Every value must fit the width that holds at its record, and be what the default or stride gives where none is
 *   stored.
 * - Thread, heap and time get their first metadata before the first record that has one given, not earlier: until then
 *   readers take them for absent. From then on they must have a layout that gives back the values in the columns.
 */
export interface Planner {
  /**
   * How many records it wants to see at once, to look ahead. Without it, or with 0, records come as they are, and what
   * is written must not depend on how they were cut into blocks.
   */
  readonly window?: number
  /**
   * @param records the next block of records
   * @param fields how fields are laid out at its beginning; not to be changed
   * @param plan takes the metadata; empty
   */
  plan(records: Records, fields: FieldStates, plan: Plan): void
}

/** The least width, of at least 1 byte, for a value. */
export function widthOf(lo: number, hi: number): number {
  return hi !== 0 ? 8 : lo > 0xffff ? 4 : lo > 0xff ? 2 : 1
}

/**
 * Stores values as they are. Sizes and addresses have the 4 bytes of the defaults; the other fields have none until the
 * first record with one. Before a record whose value does not fit, the field is widened; never is it made narrower. So
 * the bytes do not depend on how the events were cut into batches.
 * @param planned the codes of the fields that it is for
 */
export function plain(planned: readonly number[]): Planner {
  return {
    plan(records, fields, plan) {
      const { count, tag, given, size, address, oldAddress, thread, heap, time, dataEnd } = records
      // Fields of other planners have the greatest width, and never need another.
      const widths = fields.width.map((width, field) => (planned.includes(field) ? width : Code.V2))
      // The width of a field that is not stored yet is 0, and 0 is what its values are until it is given.
      const widen = (r: number, field: number, width: number) => {
        if (fields.interpretation[field] !== Code.NONE && widths[field] === 0) {
          plan.setInterpretation(r, field, Code.NONE)
        }
        plan.setWidth(r, field, width)
        widths[field] = width
      }
      const fit = (r: number, field: number, words: Uint32Array, isGiven: boolean) => {
        const lo = words[2 * r + LO]
        const hi = words[2 * r + HI]
        const width = widths[field]
        if (
          hi !== 0 ? width < 8 : width < 4 && (lo > 0xffff || (width < 2 && (lo > 0xff || (width === 0 && isGiven))))
        ) {
          widen(r, field, widthOf(lo, hi))
        }
      }
      for (let r = 0, start = 0; r < count; r++) {
        const end = dataEnd[r]
        const set = given[r]
        fit(r, Code.F_SIZE, size, false)
        fit(r, Code.F_ADDRESS, oldAddress, false)
        fit(r, Code.F_ADDRESS, address, false)
        if (set !== 0) {
          fit(r, Code.F_THREAD, thread, (set & Given.thread) !== 0)
          fit(r, Code.F_HEAP, heap, (set & Given.heap) !== 0)
          fit(r, Code.F_TIME, time, (set & Given.time) !== 0)
        }
        if (end > start && tag[r] !== Code.TAG_COMMENT) {
          const width = end - start > 0xff ? Code.V2 : Code.V1
          if (widths[Code.F_ATTRIBUTES] < width) widen(r, Code.F_ATTRIBUTES, width)
        }
        start = end
      }
    },
  }
}

/** Stores the values of all fields as they are. */
export const plainPlanner: Planner = plain(FIELD_NAMES.map((_, field) => field))
