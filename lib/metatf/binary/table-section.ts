import { Input } from '../../bytes/input.js'
import type { Span } from './header.js'
import { Layouts, type Layout, type Plan, type SectionLayouts } from '../layout.js'
import type { Element } from '../model.js'
import { getNumber } from '../pairs.js'
import { BinaryReader, INCOMPLETE, Metadata } from './reader.js'
import { Tables } from './tables.js'

/**
 * Reads bytes from the file that is being decoded.
 *
 * @param offset from the beginning of the file
 * @param length how many bytes
 * @returns these bytes; fewer at the end of the file, or if they do not come in one piece; none after it
 */
export type ReadAt = (offset: number, length: number) => Uint8Array

/** How many bytes are read at once. */
const PIECE = 65_536

/** Reads a section that lies elsewhere in the file and of which other records take the elements. */
export class TableSection {
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
    this.reader = new BinaryReader(little, new Tables(0))
    this.layouts = new Layouts(plan).of(this.id)
    this.element = this.layouts.section.element as Element
    this.isRaw = plan.isRaw(this.id)
  }

  /** Reads some more elements. Returns why it cannot, or an empty string. */
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

  /** Comments in a table that is read on demand have no fixed place among the events. */
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
