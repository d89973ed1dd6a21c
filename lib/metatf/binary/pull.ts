import { Input } from '../../bytes/input.js'
import type { Element } from '../model.js'
import type { Span } from './layout.js'
import { Metadata, getNumber } from './program.js'
import { INCOMPLETE, RecordReader, type TableSource } from './read.js'
import { States, type Plan, type SectionState } from './states.js'
import type { Puller, Tables } from './tables.js'
import { readTag } from './words.js'

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
  rollback: () => undefined,
}

/** How many bytes are read at once. */
const PIECE = 65_536

/** Reads a section that lies elsewhere in the file and of which other records take the elements. */
export class SectionPuller implements Puller {
  private readonly input = new Input()
  private readonly reader: RecordReader
  private readonly state: SectionState
  private readonly element: Element
  private readonly isRaw: boolean
  private readonly id: number
  /** How much of the section was read from the file. */
  private at: number
  private hasLeftOut = false

  constructor(
    private readonly plan: Plan,
    private readonly little: boolean,
    private readonly span: Span,
    private readonly tables: Tables,
    private readonly readAt: ReadAt,
    private readonly warn: (reason: string, offset: number) => void,
  ) {
    this.id = span.section as number
    this.at = span.start
    this.reader = new RecordReader(little, NO_TABLES)
    this.state = new States(plan).of(this.id)
    this.element = this.state.section.element as Element
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
    const { input, reader } = this
    const after = reader.read(this.state.raw, input.bytes, input.pos, input.end)
    if (after === INCOMPLETE) return ''
    if (after < 0) return reader.reason
    if (after === input.pos) return `section ${this.id} has elements of no bytes`
    input.pos = after
    return this.tables.push(this.id, reader.words, 2 * this.element.position)
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
    const { input, plan, reader, state, id } = this
    if (input.left < plan.tagWidth) return ''
    const tag = readTag(input.bytes, input.pos, plan.tagWidth, this.little)
    const record = state.byTag(tag)
    if (record === undefined) return `unknown tag ${tag} in section ${id}`
    const { role, name } = record.program.record
    const isElement = record.program.record === this.element.record
    if (role === 'data' && !isElement) return `record ${name} in section ${id}, which is a table`
    const after = reader.read(record, input.bytes, input.pos, input.end)
    if (after === INCOMPLETE) return ''
    if (after < 0) return reader.reason
    if (role === 'comment') this.leaveOut()
    input.pos = after
    const { words } = reader
    if (isElement) return this.tables.push(id, words, 2 * this.element.position)
    if (role === 'metadata') return applyMetadata(state, words)
    if (role === 'comment' || (role === 'section' && getNumber(words, 1) === id)) return ''
    return `a change of the section inside section ${id}, which is a table`
  }
}

/** Takes in the metadata record of which these are the values. Returns what is wrong with it, or an empty string. */
export function applyMetadata(section: SectionState, words: Uint32Array): string {
  const at = (k: number) => getNumber(words, k)
  return section.apply(at(Metadata.record), at(Metadata.field), at(Metadata.property), words, 2 * Metadata.value)
}
