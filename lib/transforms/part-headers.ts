import { EventBatch } from '../event/batch.js'
import type { TracePosition } from '../event/error.js'
import { ALL_FIELDS, FieldBit } from '../event/fields.js'
import { withMarks, type TraceHeader, type TracePart } from '../event/header.js'
import { selectRows } from '../kernel/select.js'

const HAS_SEQUENCE = FieldBit.sequence

/** Consecutive event numbers of a part differ by less than this, unless a new header is between them. */
const MAX_STEP = 2 ** 31

/** The position of a part in the trace that is split. */
interface Place {
  header: TraceHeader
  /** The number of its trace in the stream. */
  trace: number
  /** The number of its last event. */
  last: number
}

/**
 * Makes batches of parts of a trace from the events of a batch, with headers that mark them as parts (see `TracePart`)
 * and, on request, numbered.
 */
export class PartHeaders {
  private readonly id = globalThis.crypto.randomUUID()
  private readonly places = new Map<string, Place>()
  /** The header of the current trace as received, and the header of its parts unless they are numbered. */
  private header: TraceHeader | undefined
  private marked: TraceHeader | undefined
  private trace = 0
  /** The number of events before the current batch. */
  before = 0
  /** The number of events of the current batch. */
  private count = 0
  private isNumbering = false
  /** The headers of the traces that have had no events since the last event; the current one may be among them. */
  private readonly empty: TraceHeader[] = []

  /**
   * @param isWhole whether all events of a block are in the same part
   * @param isNumbered whether to number the events
   */
  constructor(
    private readonly isWhole: boolean,
    private readonly isNumbered: boolean,
  ) {}

  /**
   * Notes a batch that will be divided.
   * @returns the first event that must be numbered, but has a sequence number already; the number of events if none has
   */
  begin(batch: EventBatch): number {
    this.before += this.count
    this.count = batch.count
    if (batch.header !== this.header) this.beginTrace(batch.header)
    if (batch.count > 0 && this.empty.at(-1) === this.marked) this.empty.pop()
    if (!this.isNumbering || (batch.columns & HAS_SEQUENCE) === 0) return batch.count
    const numbered = batch.mask.subarray(0, batch.count).findIndex((fields) => (fields & HAS_SEQUENCE) !== 0)
    return numbered < 0 ? batch.count : numbered
  }

  /** The position of event i of the batch in the trace, for errors. */
  placeOf({ header }: EventBatch, i: number): TracePosition {
    return { format: header.format, event: this.before + i + 1 }
  }

  /**
   * The headers of traces without events before the next event, as batches without events. They belong to the part of
   * that event or, at the end, of the last one.
   */
  takeEmpty(): EventBatch[] {
    return this.empty.splice(0).map((header) => new EventBatch(0, 0, header))
  }

  /**
   * Some events of a batch, as the next ones of a part.
   * @param rows their rows in the batch, in order
   * @param before the number of events before the batch
   */
  select(batch: EventBatch, key: string, rows: Int32Array, before = this.before): EventBatch {
    const n = rows.length
    if (!this.isNumbering) return selectRows(batch, rows, n, ALL_FIELDS, this.marked)
    const part = selectRows(
      batch,
      rows,
      n,
      ALL_FIELDS,
      this.headerOf(key, before + rows[0] + 1, before + rows[n - 1] + 1),
    )
    part.addColumns(HAS_SEQUENCE)
    const { mask, sequence } = part
    const first = (before + 1) % 2 ** 32
    for (let j = 0; j < n; j++) {
      mask[j] = mask[j] | HAS_SEQUENCE
      sequence[j] = first + rows[j]
    }
    return part
  }

  private beginTrace(header: TraceHeader): void {
    this.header = header
    this.trace++
    // The parts of a part are parts of the same trace, and its numbers remain valid.
    const { part } = header
    this.isNumbering = this.isNumbered && part?.first === undefined
    const { id: of, trace } = this
    if (this.isNumbering) this.marked = this.mark({ of, trace, first: this.before + 1 })
    else this.marked = this.mark(part ?? { of, trace })
    if (this.isNumbered) this.empty.push(this.marked)
  }

  private mark({ of, trace, first }: TracePart): TraceHeader {
    const header = this.header as TraceHeader
    const isWhole = this.isWhole && (header.part === undefined || header.part.whole === true)
    const part = { of, trace, ...(isWhole && ({ whole: true } as const)), ...(first !== undefined && { first }) }
    return withMarks(header, { ...header, part })
  }

  /** The header of a part for events whose numbers begin with `first` and end with `last`. */
  private headerOf(key: string, first: number, last: number): TraceHeader {
    let place = this.places.get(key)
    if (place === undefined || place.trace !== this.trace || first - place.last >= MAX_STEP) {
      const header = this.mark({ of: this.id, trace: this.trace, first })
      place = { header, trace: this.trace, last }
      this.places.set(key, place)
    }
    place.last = last
    return place.header
  }
}
