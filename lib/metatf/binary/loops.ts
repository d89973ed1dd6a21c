import type { Input } from '../../bytes/input.js'
import type { Sink } from '../../bytes/sink.js'
import type { EventBatch } from '../../event/batch.js'
import { unwritableFields, type Chooser } from '../choose.js'
import { checkVersion, type Versioned } from '../loop-version.js'
import type { Mapping, RecordMapping } from '../mapping.js'
import { RecordLayout } from './record-layout.js'
import type { Plan, SectionState } from './states.js'

/** What a loop that reads is given, and where it leaves how far it came. */
export interface ReadCursor {
  readonly bytes: Uint8Array
  /** The same bytes. */
  readonly view: DataView
  /** Where the next record begins. The loop moves it behind what it has read. */
  pos: number
  /** Where the bytes end, or the section. */
  readonly end: number
  /** How many events the batch may have at most. */
  readonly limit: number
  /** Those of `SectionLoops.tags`, in that order. */
  readonly layouts: readonly RecordLayout[]
}

/** What a loop that writes is given, and where it leaves how far it came. */
export interface WriteCursor {
  /** Where records are written. */
  readonly sink: Sink
  readonly little: boolean
  /** The event to be written next. The loop moves it behind those that it has written. */
  row: number
  /** How many events of the batch are to be written. */
  readonly end: number
  readonly layouts: readonly RecordLayout[]
  /** By `recordSlot`, the position of the record in the mapping of the DTD that an event is written as, or -1. */
  readonly table: Int32Array
  /** A view of the sink's bytes as they are now. */
  view(): DataView
}

/**
 * The compiled loops of one section. They read and write the records and events that they are made for, one after the
 * other, and stop at the first that is any different: a record of another type, one that is not all there or not as it
 * should be, an event that does not fit the layout. The reader and writer for all records take that one, and the loop
 * goes on behind it.
 */
export interface SectionLoops {
  /** ID of the section. */
  readonly section: number
  /** The tags of its records. */
  readonly tags: readonly number[]
  /** Adds records whose numbers are big-endian to a batch. */
  read(batch: EventBatch, cursor: ReadCursor): void
  /** The same for little-endian ones. */
  readLittle(batch: EventBatch, cursor: ReadCursor): void
  /** Writes events of a batch. */
  write(batch: EventBatch, cursor: WriteCursor): void
}

/** What a DTD of 1.0 is compiled to. */
export interface BinaryLoops extends Versioned {
  readonly sections: readonly SectionLoops[]
}

/** The layouts of one section that a loop reads or writes by. */
class Layouts {
  readonly layouts: readonly RecordLayout[]
  private seen = -1

  constructor(
    readonly loops: SectionLoops,
    private readonly section: SectionState,
    mapping: Mapping,
  ) {
    this.layouts = loops.tags.map((tag) => {
      const record = mapping.of.get(section.section.tags.get(tag) as RecordMapping['record']) as RecordMapping
      return new RecordLayout(record, unwritableFields(mapping, record))
    })
  }

  refresh(): void {
    const { section, loops, layouts } = this
    if (section.changes === this.seen) return
    this.seen = section.changes
    for (let i = 0; i < layouts.length; i++)
      (layouts[i] as RecordLayout).refresh(section.known(loops.tags[i] as number))
  }
}

/** Finds the layouts for the sections that have loops. */
class Sections {
  private readonly loops: ReadonlyMap<number, SectionLoops>
  private readonly sections = new Map<SectionState, Layouts | null>()

  constructor(
    loops: readonly SectionLoops[],
    private readonly mapping: Mapping,
  ) {
    this.loops = new Map(loops.map((section) => [section.section, section]))
  }

  /** What there is for a section, up to date. */
  of(section: SectionState): Layouts | null {
    let layouts = this.sections.get(section)
    if (layouts === undefined) {
      const loops = this.loops.get(section.section.id)
      layouts = loops === undefined ? null : new Layouts(loops, section, this.mapping)
      this.sections.set(section, layouts)
    }
    layouts?.refresh()
    return layouts
  }
}

/** Runs compiled loops over the bytes of a decoder. */
export class LoopReader implements ReadCursor {
  bytes: Uint8Array = new Uint8Array(0)
  view: DataView = new DataView(this.bytes.buffer)
  pos = 0
  end = 0
  limit = 0
  layouts: readonly RecordLayout[] = []
  private readonly sections: Sections

  constructor(loops: readonly SectionLoops[], mapping: Mapping) {
    this.sections = new Sections(loops, mapping)
  }

  /**
   * Reads what it can of the records up to `end` into a batch, which may then have `limit` events. Returns how many.
   */
  read(section: SectionState, batch: EventBatch, input: Input, little: boolean, end: number, limit: number): number {
    const found = this.sections.of(section)
    if (found === null) return 0
    const { bytes, pos } = input
    if (bytes !== this.bytes) {
      this.bytes = bytes
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    }
    this.pos = pos
    this.end = end
    this.limit = limit
    this.layouts = found.layouts
    const before = batch.count
    if (little) found.loops.readLittle(batch, this)
    else found.loops.read(batch, this)
    input.pos = this.pos
    return batch.count - before
  }
}

/** Runs compiled loops over the batches of an encoder. */
export class LoopWriter implements WriteCursor {
  row = 0
  end = 0
  layouts: readonly RecordLayout[] = []
  readonly table: Int32Array
  private readonly sections: Sections
  private latest: DataView = new DataView(new ArrayBuffer(0))

  constructor(
    loops: readonly SectionLoops[],
    mapping: Mapping,
    chooser: Chooser,
    readonly sink: Sink,
    readonly little: boolean,
  ) {
    this.sections = new Sections(loops, mapping)
    this.table = chooser.certain
  }

  /** Writes what it can of the events from `row` to `end`. Returns the first that it has not written. */
  write(section: SectionState, batch: EventBatch, row: number, end: number): number {
    const found = this.sections.of(section)
    if (found === null) return row
    this.row = row
    this.end = end
    this.layouts = found.layouts
    found.loops.write(batch, this)
    return this.row
  }

  view(): DataView {
    const { bytes } = this.sink
    if (this.latest.buffer !== bytes.buffer)
      this.latest = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return this.latest
  }
}

/** The loops of sections, none if there are none. @throws Error if they were compiled by another version */
export function sectionsOf(loops: BinaryLoops | undefined): readonly SectionLoops[] {
  if (loops === undefined) return []
  checkVersion(loops)
  return loops.sections
}

/** Whether loops can write traces of a DTD: not where fields take values from tables, which records must wait for. */
export function canLoop({ tables }: Plan): boolean {
  return tables.size === 0
}

/**
 * The tag of any width, in bytes, at `at`; for compiled code.
 *
 * @param little whether its least significant byte comes first
 */
export function getTag(view: DataView, at: number, width: number, little: boolean): number {
  let tag = 0
  for (let i = 0; i < width; i++) tag = tag * 256 + view.getUint8(little ? at + width - 1 - i : at + i)
  return tag
}

/** Writes a tag of any width, in bytes, to `at`; for compiled code. */
export function setTag(view: DataView, at: number, width: number, tag: number, little: boolean): void {
  let rest = tag
  for (let i = 0; i < width; i++) {
    view.setUint8(little ? at + i : at + width - 1 - i, rest % 256)
    rest = Math.floor(rest / 256)
  }
}
