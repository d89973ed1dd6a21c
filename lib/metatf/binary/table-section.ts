import { Input } from '../../bytes/input.js'
import { doubleAt } from '../../bytes/u64.js'
import type { Span } from './header.js'
import { Layouts, type Plan } from '../layout.js'
import { BinaryReader, FAULT, INCOMPLETE } from './reader.js'
import type { Tables } from './tables.js'

/**
 * Reads bytes from the file that is being decoded.
 *
 * @param offset from the beginning of the file
 * @param length the number of bytes
 * @returns these bytes; fewer at the end of the file, or if they arrive in pieces; none after the end
 */
export type ReadAt = (offset: number, length: number) => Uint8Array

/** The number of bytes to read at once. */
const PIECE = 65_536

/** Reads a section elsewhere in the file, whose elements other records take. */
export class TableSection {
  private readonly input = new Input()
  private readonly reader: BinaryReader
  private readonly id: number
  /** The offset up to which the section was read from the file. */
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
    this.reader = new BinaryReader(little, tables)
    this.reader.section = new Layouts(plan).of(this.id)
  }

  /** Reads some more elements. Returns the reason if it cannot, or an empty string. */
  pull(): string {
    const { input, span, id, reader } = this
    if (this.at < span.end) {
      const piece = this.readAt(this.at, Math.min(PIECE, span.end - this.at))
      if (piece.length === 0) return `the file ends inside section ${id}`
      input.feed(piece)
      this.at += piece.length
    }
    while (input.left > 0) {
      reader.use(input.bytes, input.pos, input.end)
      const after = this.record()
      if (after === FAULT) return reader.reason
      if (after === INCOMPLETE) return this.at < span.end ? '' : `section ${id} ends inside a record`
      input.pos = after
    }
    if (this.at === span.end) this.tables.close(id)
    return ''
  }

  /** Reads an element, or a record between two of them. */
  private record(): number {
    const { id, reader } = this
    const after = reader.next(this.plan, id)
    if (after < 0) return after
    const { mapping, record } = reader.layout
    if (record.role === 'section' && doubleAt(reader.words, 1) !== id)
      return reader.fail(`a change of the section inside section ${id}, which is a table`)
    if (mapping === undefined) return after
    if (record.role !== 'comment') return reader.fail(`record ${record.name} in section ${id}, which is a table`)
    // Comments in a table that is read on demand have no fixed place among the events.
    const end = reader.flat(reader.layout)
    if (end >= 0 && !this.hasLeftOut) {
      this.hasLeftOut = true
      const what = `the comments inside section ${id}, a table that is read apart from the records, are left out`
      this.warn(what, this.at - this.input.left)
    }
    return end
  }
}
