import { Input } from '../../bytes/input.js'
import type { Span } from './header.js'
import { Layouts, type Layout, type Plan, type SectionLayouts } from '../layout.js'
import type { Element } from '../model.js'
import { getNumber } from '../pairs.js'
import { BinaryReader, INCOMPLETE, Metadata, type TableSource } from './reader.js'

/** Reads on in a table that lies elsewhere in the file. */
interface Puller {
  /** Pushes some more elements onto the table, or closes it at its end. Returns why it cannot, or an empty string. */
  pull(): string
}

const LATE = 'sections that come after the records that need them can be read from a file only'

/** The elements of one section that came and were not taken yet. */
class Table {
  /** The number of the next element to be taken, and what that was at the last commit. */
  next = 0
  committed = 0
  /** How many elements came so far. */
  count = 0
  /** Whether no more will come. */
  isClosed = false
  puller: Puller | null = null
  /** The number of the element at `words[0]`. */
  private first = 0
  private words = new Uint32Array(64)

  /** How many bytes the elements take. */
  get bytes(): number {
    return 8 * Math.max(0, this.count - Math.max(this.first, this.committed))
  }

  push(from: Uint32Array, at: number): void {
    // Those that were passed over already are not kept.
    if (this.count < this.committed) {
      this.first = ++this.count
      return
    }
    let slot = 2 * (this.count - this.first)
    if (slot === this.words.length) {
      const unused = Math.max(0, Math.min(this.committed, this.count) - this.first)
      const words = unused > slot / 4 ? this.words : new Uint32Array(2 * this.words.length)
      words.set(this.words.subarray(2 * unused, slot))
      this.words = words
      this.first += unused
      slot -= 2 * unused
    }
    this.words[slot] = from[at]
    this.words[slot + 1] = from[at + 1]
    this.count++
  }

  /** Puts an element that is there into `to[index]`. */
  get(element: number, to: Uint32Array, index: number): void {
    const slot = 2 * (element - this.first)
    to[index] = this.words[slot]
    to[index + 1] = this.words[slot + 1]
  }

  /** Forgets the elements that were taken. */
  drop(): void {
    this.committed = this.next
    if (this.committed >= this.count) this.first = this.count
  }
}

/**
 * The tables that fields with sectionStride take their values from. All fields that take from a section share one
 * offset into it, which only ever goes forward, so that elements are kept from when they come until they are taken.
 */
export class Tables implements TableSource {
  reason = ''
  private readonly tables = new Map<number, Table>()
  private readonly taken: Table[] = []
  private hasTaken = false

  /** @param maxBytes how many bytes those elements of a section may take that were not taken yet */
  constructor(private readonly maxBytes: number) {}

  /** Adds an element to a section. Returns why there are too many, or an empty string. */
  push(section: number, words: Uint32Array, at: number): string {
    const table = this.of(section)
    table.push(words, at)
    if (table.bytes <= this.maxBytes) return ''
    return `more than ${this.maxBytes} bytes of section ${section} come before the records that need them`
  }

  /** No more elements of that section will come. */
  close(section: number): void {
    this.of(section).isClosed = true
  }

  /** Takes the elements of a section from elsewhere. */
  pullFrom(section: number, puller: Puller): void {
    this.of(section).puller = puller
  }

  take(section: number, stride: number, words: Uint32Array, index: number): boolean {
    const table = this.of(section)
    while (table.count <= table.next && !table.isClosed && table.puller !== null) {
      this.reason = table.puller.pull()
      if (this.reason !== '') return false
    }
    if (table.count <= table.next) {
      this.reason = table.isClosed
        ? `section ${section} has only ${table.count} elements`
        : `element ${table.next} of section ${section} has not come yet: ${LATE}`
      return false
    }
    table.get(table.next, words, index)
    if (!this.taken.includes(table)) this.taken.push(table)
    this.hasTaken = true
    table.next += stride
    return true
  }

  /** What was taken stays taken: the record is whole. */
  commit(): void {
    if (!this.hasTaken) return
    for (const table of this.taken) table.drop()
    this.taken.length = 0
    this.hasTaken = false
  }

  rollback(): void {
    for (const table of this.taken) table.next = table.committed
    this.taken.length = 0
    this.hasTaken = false
  }

  private of(section: number): Table {
    let table = this.tables.get(section)
    if (table === undefined) this.tables.set(section, (table = new Table()))
    return table
  }
}

/**
 * Reads bytes from the file that is being decoded.
 *
 * @param offset from the beginning of the file
 * @param length how many bytes
 * @returns so many bytes, or fewer if the file ends, or if it does not come in one piece; none at its end
 */
export type ReadAt = (offset: number, length: number) => Uint8Array

/** Elements do not take their values from tables. */
const NO_TABLES: TableSource = {
  reason: 'it takes values from a table inside a table',
  take: () => false,
  commit: () => undefined,
  rollback: () => undefined,
}

/** How many bytes are read at once. */
const PIECE = 65_536

/** Reads a section that lies elsewhere in the file and of which other records take the elements. */
export class SectionPuller implements Puller {
  private readonly input = new Input()
  private readonly reader: BinaryReader
  private readonly layouts: SectionLayouts
  private readonly element: Element
  private readonly isRaw: boolean
  private readonly id: number
  /** How much of the section was read from the file. */
  private at: number
  private hasLeftOut = false

  constructor(
    private readonly plan: Plan,
    little: boolean,
    private readonly span: Span,
    private readonly tables: Tables,
    private readonly readAt: ReadAt,
    private readonly warn: (reason: string, offset: number) => void,
  ) {
    this.id = span.section as number
    this.at = span.start
    this.reader = new BinaryReader(little, NO_TABLES)
    this.layouts = new Layouts(plan).of(this.id)
    this.element = this.layouts.section.element as Element
    this.isRaw = plan.isRaw(this.id)
  }

  pull(): string {
    const { input, span, id } = this
    if (this.at < span.end) {
      const piece = this.readAt(this.at, Math.min(PIECE, span.end - this.at))
      if (piece.length === 0) return `the file ends inside section ${id}`
      input.feed(piece)
      this.at += piece.length
    }
    while (input.left > 0) {
      const before = input.pos
      const reason = this.isRaw ? this.value() : this.record()
      if (reason !== '') return reason
      if (input.pos === before) {
        if (this.at < span.end) return ''
        return `section ${id} ends inside a record`
      }
    }
    if (this.at === span.end) this.tables.close(id)
    return ''
  }

  /** Reads an element without a tag. */
  private value(): string {
    const { input, reader, layouts } = this
    reader.use(input.bytes, input.pos, input.end)
    const after = reader.flat(layouts.raw)
    if (after === INCOMPLETE) return ''
    if (after < 0) return reader.reason
    if (after === input.pos) return `section ${this.id} has elements of no bytes`
    return this.push(after, layouts.raw)
  }

  private push(after: number, layout: Layout): string {
    layout.commit()
    this.input.pos = after
    return this.tables.push(this.id, this.reader.words, 2 * this.element.position)
  }

  /** A comment in a table that is read when its elements are needed has no place among the events. */
  private leaveOut(): void {
    if (this.hasLeftOut) return
    this.hasLeftOut = true
    this.warn(
      `the comments inside section ${this.id}, a table that is read apart from the records, are left out`,
      this.at - this.input.left,
    )
  }

  /** Reads a record, be it an element or one between them. */
  private record(): string {
    const { input, plan, reader, layouts, id } = this
    const { tagWidth } = plan.dtd as { tagWidth: number }
    if (input.left < tagWidth) return ''
    reader.use(input.bytes, input.pos, input.end)
    const tag = reader.tag(input.pos, tagWidth)
    const layout = layouts.of(tag)
    if (layout === undefined) return `unknown tag ${tag} in section ${id}`
    const { role, name } = layout.record
    const isElement = layout.record === this.element.record
    if (role === 'data' && !isElement) return `record ${name} in section ${id}, which is a table`
    const after = reader.flat(layout)
    if (after === INCOMPLETE) return ''
    if (after < 0) return reader.reason
    if (isElement) return this.push(after, layout)
    if (role === 'comment') this.leaveOut()
    input.pos = after
    if (role === 'metadata') return applyMetadata(layouts, reader.words)
    if (role === 'comment' || (role === 'section' && getNumber(reader.words, 1) === id)) return ''
    return `a change of the section inside section ${id}, which is a table`
  }
}

/** Takes in the metadata record of which these are the values. Returns what is wrong with it, or an empty string. */
export function applyMetadata(section: SectionLayouts, words: Uint32Array): string {
  const at = (k: number) => getNumber(words, k)
  return section.apply(at(Metadata.record), at(Metadata.field), at(Metadata.property), words, 2 * Metadata.value)
}
