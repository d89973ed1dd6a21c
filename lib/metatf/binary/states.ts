import { WORD } from '../../bytes/u64.js'
import type { Dtd, RecordType, Section } from '../model.js'
import { METADATA_PROPERTIES } from '../predefined.js'
import { MAX_STATES } from './layout.js'
import { Mode, getNumber, programOf, type Program } from './program.js'

const { none: NONE, delta: DELTA, stride: STRIDE, sectionOffset: SECTION_OFFSET, sectionStride: SECTION_STRIDE } = Mode

/** The widest number. */
const INT_BYTES = 8

/** Whether a leaf stores nothing under each interpretation. */
const IS_STORED = Uint8Array.from([0, 1, 1, 1, 0, 1, 0, 0])

/** What a DTD says about traces in binary, ready for readers and writers. Never changes. */
export class Plan {
  readonly tagWidth: number
  readonly sections: ReadonlyMap<number, Section>
  /**
   * The sections of which fields with sectionStride take elements: those that the DTD names, and those that cannot be
   * anything else, for their elements have no tag. Their records are no events.
   */
  readonly tables: ReadonlySet<number>
  private readonly programs = new Map<RecordType, Program>()

  /** @throws RangeError if the DTD is not of version 1.0, which alone describes traces in binary */
  constructor(readonly dtd: Dtd) {
    if (dtd.tagWidth === null)
      throw new RangeError(`${dtd.file} is of Meta-TF ${dtd.version}, which has no binary traces`)
    this.tagWidth = dtd.tagWidth
    this.sections = new Map(dtd.sections.map((section) => [section.id, section]))
    const tables = new Set<number>()
    for (const { id, element, records } of dtd.sections) {
      if (element !== null && element.record.tag === null) tables.add(id)
      for (const { leaves } of records) {
        for (const { interpretation: how } of leaves) if (how.kind === 'sectionStride') tables.add(how.section)
      }
    }
    this.tables = tables
  }

  /** The program of a record type. */
  program(record: RecordType): Program {
    let program = this.programs.get(record)
    if (program === undefined) this.programs.set(record, (program = programOf(record, this.programs.size)))
    return program
  }

  /** Whether a section is nothing but the values themselves, without tags. */
  isRaw(section: number): boolean {
    const element = this.sections.get(section)?.element
    return element !== undefined && element !== null && element.record.tag === null
  }
}

/** How a record type is laid out at one place of a section: what the metadata records there have set so far. */
export class RecordState {
  readonly mode: Uint8Array
  /** Bytes in the record, or `~position` of the leaf whose value that is. */
  readonly width: Int32Array
  /** The same for the interpretations that store something: what `width` becomes with them. */
  readonly storedWidth: Int32Array
  readonly reference: Uint32Array
  readonly referenceFrom: Int32Array
  readonly stride: Uint32Array
  readonly section: Uint8Array
  /** 1 for each leaf that a metadata record was about. */
  readonly touched: Uint8Array
  /** How many metadata records were about it. */
  changes = 0

  constructor(readonly program: Program) {
    this.mode = program.mode.slice()
    this.width = program.width.slice()
    this.storedWidth = program.width.slice()
    this.reference = program.reference.slice()
    this.referenceFrom = program.referenceFrom.slice()
    this.stride = program.stride.slice()
    this.section = program.section.slice()
    this.touched = new Uint8Array(program.mode.length)
  }

  /** Changes the width of leaf p. Returns what is wrong with that (then nothing has changed), or an empty string. */
  setWidth(p: number, bytes: number): string {
    const { program } = this
    if (program.isBytes[p] === 0 && bytes > INT_BYTES)
      return `a width of ${bytes} bytes for ${nameOf(program, p)}, a number`
    const { role } = program.record
    if ((role === 'metadata' || role === 'section') && bytes === 0)
      return `a width of 0 bytes for ${nameOf(program, p)}`
    if (bytes !== 0) this.storedWidth[p] = bytes
    if (IS_STORED[this.mode[p] as number] === 1) this.width[p] = bytes
    this.touched[p] = 1
    this.changes++
    return ''
  }

  /**
   * Changes the interpretation of leaf p. What is stored takes the last width that was not 0.
   *
   * @param words the arguments, as pairs of words from `at` on; strides of stride with their sign in the whole pair
   */
  setMode(p: number, mode: number, words: Uint32Array, at: number): void {
    this.mode[p] = mode
    this.width[p] = IS_STORED[mode] === 1 ? (this.storedWidth[p] as number) : 0
    this.referenceFrom[p] = -1
    this.touched[p] = 1
    this.changes++
    if (mode === SECTION_OFFSET || mode === SECTION_STRIDE) this.section[p] = getNumber(words, at / 2)
    else if (mode !== NONE) this.reference.set(words.subarray(at, at + 2), 2 * p)
    if (mode === STRIDE || mode === SECTION_STRIDE) this.stride.set(words.subarray(at + 2, at + 4), 2 * p)
  }

  /** Whether values of leaf p change its state. */
  moves(p: number): boolean {
    return this.mode[p] === DELTA || this.mode[p] === STRIDE
  }
}

/** The layouts of all record types in one section. */
export class SectionState {
  /** How often a layout was made or changed. */
  changes = 0
  private readonly small: (RecordState | undefined)[] = []
  private readonly large = new Map<number, RecordState>()
  private rawState: RecordState | undefined

  constructor(
    readonly section: Section,
    private readonly owner: States,
  ) {}

  /** What has that tag here, or undefined if nothing does. */
  byTag(tag: number): RecordState | undefined {
    return (tag < 256 ? this.small[tag] : this.large.get(tag)) ?? this.make(tag)
  }

  /** The same, if there was need of it before. */
  known(tag: number): RecordState | undefined {
    return tag < 256 ? this.small[tag] : this.large.get(tag)
  }

  /** The elements of a section without tags. */
  get raw(): RecordState {
    return (this.rawState ??= this.owner.make((this.section.element as { record: RecordType }).record))
  }

  private make(tag: number): RecordState | undefined {
    const record = this.section.tags.get(tag)
    if (record === undefined) return undefined
    const state = this.owner.make(record)
    this.changes++
    if (tag < 256) this.small[tag] = state
    else this.large.set(tag, state)
    return state
  }

  /**
   * Takes in a metadata record.
   *
   * @param tag of the record type that is changed
   * @param p the position of its field
   * @param words the numbers behind the property, as pairs of words from `at` on
   * @returns what is wrong with it (then nothing has changed), or an empty string
   */
  apply(tag: number, p: number, property: number, words: Uint32Array, at: number): string {
    const { plan } = this.owner
    const state = this.byTag(tag)
    if (state === undefined) return `metadata for the unknown tag ${tag}`
    const { program } = state
    const { record } = program
    if (p >= record.leaves.length) return `metadata for the unknown field ${p} of ${record.name}`
    const field = nameOf(program, p)
    if (record.leaves[p]?.name === 'tag') return 'metadata for a tag'
    this.changes++
    if (property === 0) return state.setWidth(p, getNumber(words, at / 2))
    const { name } = METADATA_PROPERTIES[property] as (typeof METADATA_PROPERTIES)[number]
    if (property !== NONE) {
      if (program.isBytes[p] === 1) return `interpretation ${name} for ${field}, which is bytes and no number`
      if (record.role !== 'data') return `interpretation ${name} for ${field}`
    }
    if (property === SECTION_OFFSET || property === SECTION_STRIDE) {
      const section = getNumber(words, at / 2)
      if (!plan.sections.has(section) || section === 0)
        return `interpretation ${name} with the unknown section ${section}`
      if (property === SECTION_STRIDE) {
        if (!plan.tables.has(section)) return `interpretation sectionStride with section ${section}, which is no table`
        if (plan.tables.has(this.section.id))
          return `interpretation sectionStride in the table that section ${this.section.id} is`
        if (getNumber(words, at / 2 + 1) >= WORD) return 'a stride of 2^32 or more for sectionStride'
      }
    }
    state.setMode(p, property, words, at)
    return ''
  }
}

/** The layouts of all record types in all sections, as far as a trace needed them. */
export class States {
  private readonly sections = new Map<number, SectionState>()
  private leaves = 0

  constructor(readonly plan: Plan) {}

  /** Those of one section, which the DTD has. */
  of(section: number): SectionState {
    let state = this.sections.get(section)
    if (state === undefined) {
      state = new SectionState(this.plan.sections.get(section) as Section, this)
      this.sections.set(section, state)
    }
    return state
  }

  /** The layout of a record type as the DTD has it. @throws RangeError if there are too many */
  make(record: RecordType): RecordState {
    this.leaves += record.leaves.length
    if (this.leaves > MAX_STATES)
      throw new RangeError(`the record types of all sections have more than ${MAX_STATES} fields`)
    return new RecordState(this.plan.program(record))
  }
}

function nameOf({ record }: Program, p: number): string {
  return `field ${p} (${record.leaves[p]?.name}) of ${record.name}`
}
