import { CR, LF, SPACE, TAB } from '../../text/ascii.js'
import { decimal, gap, signed, unsigned } from '../../text/numbers.js'
import { Sink } from '../../bytes/sink.js'
import { HI, LO } from '../../bytes/u64.js'
import { EventBatch } from '../../event/batch.js'
import { MAX_FIELDS_LENGTH } from '../../event/json.js'
import { decodeText, encodeText } from '../../event/strings.js'
import { interpret } from '../binary/reader.js'
import { meaningError, quote } from '../errors.js'
import { type Layout, Layouts, NUMBER, Plan, SectionLayouts } from '../layout.js'
import type { Mapping } from '../mapping.js'
import type { Dtd, RecordType } from '../model.js'
import { samePair } from '../pairs.js'
import { MAX_LINE, MAX_LINE_VALUES } from './head.js'
import { isStored, lineEnd, quoted } from './tokens.js'

const HASH = 0x23
const NOTHING = new Uint8Array(0)

/**
 * The object that generated code for reading lines works on, with functions for everything not done inline. At a fault,
 * positions are negative: `~position` of the byte that does not match, and `expected` describes the expected text. A
 * line feed stops all readers, so that none checks for the end of the input.
 */
export class AsciiReader {
  bytes: Uint8Array = NOTHING
  /** The start of the next line; generated code moves it past the lines that it has read. */
  pos = 0
  /** One past the last line feed. */
  end = 0
  batch: EventBatch = new EventBatch(0, 0, { format: '' })
  limit = 0
  /** The number of the next line. */
  line = 1
  /**
   * The reason why generated code stopped: a negative position, or 0 for a line without a record, one that it does not
   * know, or a full batch.
   */
  stop = 0
  /** The expected text at the position where it stopped. */
  expected = ''
  /** The limit that the line exceeds, if any; otherwise empty. */
  excess = ''
  /** The tag that `begin` has read. */
  tag = 0
  /** Whether the line at `begin` is not a record: it belongs to a head, or is empty. */
  isHead = false
  isEmpty = false
  readonly value = new Uint32Array(2)
  /** The string that `string` has read. */
  readonly text = new Sink(256)

  constructor(readonly section: SectionLayouts) {}

  /** Reads the beginning of any line. Returns the position after its tag, or a negative one. */
  begin(start: number): number {
    const { bytes, value } = this
    this.isHead = bytes[start] === HASH
    let p = start
    while (bytes[p] === SPACE || bytes[p] === TAB) p++
    this.isEmpty = bytes[p] === LF || bytes[p] === CR
    if (this.isHead || this.isEmpty) return ~p
    const after = decimal(bytes, p, value, 0)
    this.expected = 'a tag'
    if (after < 0) return after
    this.tag = value[LO]
    if (value[HI] === 0 && this.section.positionOf(this.tag) >= 0) return after
    this.expected = 'a tag that the DTD has'
    return ~p
  }

  /** Skips spaces after the last word. */
  lineEnd(p: number): number {
    this.expected = 'the end of the line'
    return lineEnd(this.bytes, p)
  }

  /** Reads the number of leaf p at `at` into `value`. */
  number(layout: Layout, p: number, at: number): number {
    const leaf = layout.record.leaves[p]
    const { value, bytes } = this
    let after = at
    value[0] = value[1] = 0
    if (isStored(leaf)) {
      const { kind } = leaf.interpretation
      after = gap(bytes, at)
      at = Math.max(at, after)
      const read = kind === 'baseOffset' || kind === 'delta' ? signed : unsigned
      if (after >= 0) after = read(bytes, after, value, 0)
      if (after < 0) return this.missing(layout, p, after)
    }
    interpret(layout, p, value)
    layout.latest[2 * p] = value[0]
    layout.latest[2 * p + 1] = value[1]
    if (layout.fixed[p] !== NUMBER || samePair(value, 0, layout.fixedWords, 2 * p)) return after
    return this.unlike(layout, p, at)
  }

  /** Reads the string of leaf p at `at` into `text`. */
  string(layout: Layout, p: number, at: number): number {
    const leaf = layout.record.leaves[p]
    const { interpretation: how, value } = leaf
    const { text, bytes } = this
    text.pos = 0
    if (how.kind === 'default') {
      text.append(encodeText(how.value.kind === 'string' ? how.value.value : ''))
      return at
    }
    const start = gap(bytes, at)
    const after = start < 0 ? start : quoted(bytes, start, text)
    if (after < 0) return this.missing(layout, p, after)
    if (value?.kind !== 'string' || this.decoded() === value.value) return after
    return this.unlike(layout, p, start)
  }

  /** The string that was read, as a value of `fields`. */
  quoted(): string {
    return JSON.stringify(this.decoded())
  }

  private decoded(): string {
    return decodeText(this.text.bytes.subarray(0, this.text.pos))
  }

  /** Notes the expected word at `~p`. Returns p. */
  missing({ record }: Layout, leaf: number, p: number): number {
    const { name, type } = record.leaves[leaf]
    this.expected = `'${name}', ${type === 'int' ? 'a number' : 'a string in quotes'}`
    return p
  }

  /** Notes the required value of the word at `p`. Returns `~p`. */
  private unlike({ record }: Layout, leaf: number, p: number): number {
    const { name, value } = record.leaves[leaf]
    const must = value?.kind === 'string' ? JSON.stringify(value.value) : String((value as { value: bigint }).value)
    this.expected = `'${name}', ${must}`
    return ~p
  }

  /** Completes the current record. */
  commit(layout: Layout): void {
    layout.commit()
  }

  /** Undoes the current record. */
  undo(layout: Layout): void {
    layout.undo()
  }

  tooMany(): number {
    return this.exceed(`a record of more than ${MAX_LINE_VALUES} values`)
  }

  tooLong(): number {
    return this.exceed(`the values of an event take more than ${MAX_FIELDS_LENGTH} characters`)
  }

  tooLongLine(): number {
    return this.exceed(`a line of more than ${MAX_LINE} bytes`)
  }

  private exceed(what: string): number {
    this.excess = what
    return ~this.pos
  }
}

/**
 * The layouts of the records of lines by a DTD of 1.2, in whatever section they are defined.
 * @throws DtdError if the DTD is not of 1.2, or needs something that lines cannot represent
 */
export function asciiRecords(dtd: Dtd, mapping: Mapping): SectionLayouts {
  check(dtd)
  const tags = new Map<number, RecordType>()
  for (const { record } of mapping.records) {
    const tag = record.tag as number
    const other = tags.get(tag)
    if (other !== undefined) {
      const reason = `have the same tag, ${tag}: lines in ASCII do not say in which section they are`
      const names = `${quote(record.name)} and ${quote(other.name)}`
      throw meaningError(`${names} ${reason}`, record.at, `${quote(other.name)} is defined`, other.at)
    }
    tags.set(tag, record)
  }
  const records = new SectionLayouts({ ...dtd.sections[0], tags }, new Layouts(new Plan(dtd, mapping.of)))
  for (const tag of tags.keys()) records.of(tag)
  return records
}

function check({ version, file, sections }: Dtd): void {
  if (version !== '1.2') {
    const reason = `only a DTD of Meta-TF 1.2 says what is in a trace in ASCII; this is one of ${version}`
    throw meaningError(reason, { file, line: 1, column: 1 })
  }
  for (const { leaves } of sections.flatMap(({ records }) => records)) {
    const leaf = leaves.find(({ interpretation }) => interpretation.kind === 'sectionStride')
    if (leaf === undefined) continue
    const reason = 'has the interpretation sectionStride: a trace in ASCII has no sections to take values from'
    throw meaningError(`${quote(leaf.name)} ${reason}`, leaf.at)
  }
}
