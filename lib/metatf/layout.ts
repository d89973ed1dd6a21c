import { doubleAt, HI } from '../bytes/u64.js'
import { tablesOf, type RecordMapping } from './mapping.js'
import type { Dtd, Leaf, RecordType, Section } from './model.js'
import { METADATA_PROPERTIES } from './dtd/predefined.js'
import { setPair } from './pairs.js'

/** The codes of the interpretations in metadata records. */
export const Mode = {
  none: 1,
  baseOffset: 2,
  delta: 3,
  default: 4,
  sectionOffset: 5,
  stride: 6,
  sectionStride: 7,
} as const satisfies Partial<Record<(typeof METADATA_PROPERTIES)[number]['name'], number>>

/**
 * In `Layout.how`: nothing is stored, and the event does not have the field, because no metadata has changed the
 * default 0.
 */
export const SILENT = 254
/** In `how`: nothing is stored, and the value is the default in `reference`. */
export const BY_DEFAULT = 253
/** In `how`: only `number` and `put` of the reader and the writer handle the leaf. */
const GENERAL = 255

/** In `Layout.fixed`: the leaf may have any value. */
export const ANY = -2
/** In `fixed`: the value is always the number in `fixedWords`. */
export const NUMBER = -1

/** The maximum number of fields in all layouts; a record type has one layout for each section in which it occurs. */
const MAX_LAYOUTS = 1 << 20

const INT_BYTES = 8
/** All widths above this are too wide. */
const WIDEST = 0x7fff_ffff

/** Whether something is stored, by interpretation. */
const IS_STORED = [false, true, true, true, false, true, false, false]

/**
 * The layout of a record type at one place of a section: the DTD's, with the changes by metadata records. All arrays go
 * by the positions of leaves, and have pairs of words where they hold 64-bit numbers.
 */
export class Layout {
  /** 1 for leaves that are bytes or strings, 0 for numbers. */
  readonly isBytes: Uint8Array
  readonly mode: Uint8Array
  /** Bytes in the record, or `~position` of the leaf whose value that is. */
  readonly width: Int32Array
  /** Base, default, or previous value; `committed` has the previous values before the current record. */
  readonly reference: Uint32Array
  readonly committed: Uint32Array
  /** The position of the leaf whose value is the base or the default, or -1 if it is in `reference`. */
  readonly referenceFrom: Int32Array
  readonly stride: Uint32Array
  /** The section that sectionOffset and sectionStride are about. */
  readonly section: Uint8Array
  /** The required value: the value of the leaf at this position, or `ANY` or `NUMBER`. */
  readonly fixed: Int32Array
  readonly fixedWords: Uint32Array
  /** 1 for each leaf that a metadata record was about. */
  readonly touched: Uint8Array
  /** For generated code: the width of a number with interpretation none, or one of the codes above. */
  readonly how: Uint8Array
  /** The latest values, which may be widths, bases, defaults or values of other leaves. */
  readonly latest: Uint32Array
  /** The number of leaves that depend on their previous value or take elements of tables, for `commit` and `undo`. */
  moving = 0
  /** The fields whose columns are needed before a record is read, and the fields that all of its events have. */
  columns = 0
  fields = 0
  /** The width that a leaf takes again when metadata gives it an interpretation that stores something. */
  private readonly storedWidth: Int32Array

  constructor(
    readonly record: RecordType,
    readonly mapping: RecordMapping | undefined,
  ) {
    const { leaves } = record
    const n = leaves.length
    this.isBytes = Uint8Array.from(leaves, ({ type }) => Number(type !== 'int'))
    this.mode = Uint8Array.from(leaves, ({ interpretation }) => Mode[interpretation.kind])
    this.width = Int32Array.from(leaves, ({ width }) => {
      if (width === null) return 0
      return width.kind === 'reference' ? ~width.position : Math.min(width.bytes, WIDEST)
    })
    this.storedWidth = this.width.slice()
    this.reference = new Uint32Array(2 * n)
    this.referenceFrom = new Int32Array(n).fill(-1)
    this.stride = new Uint32Array(2 * n)
    this.section = new Uint8Array(n)
    this.fixed = new Int32Array(n).fill(ANY)
    this.fixedWords = new Uint32Array(2 * n)
    this.touched = new Uint8Array(n)
    this.how = new Uint8Array(n)
    this.latest = new Uint32Array(2 * n)
    this.columns = this.fields = mapping?.given ?? 0
    for (const [p, leaf] of leaves.entries()) {
      this.initialise(p, leaf)
      this.moving += this.moves(p)
      this.refresh(p)
    }
    this.committed = this.reference.slice()
  }

  /** Sets leaf p as in the DTD. */
  private initialise(p: number, { interpretation: how, value }: Leaf): void {
    if (how.kind === 'delta' || how.kind === 'stride') setPair(this.reference, p, how.initial)
    if (how.kind === 'stride' || how.kind === 'sectionStride') setPair(this.stride, p, BigInt(how.stride))
    if (how.kind === 'sectionOffset' || how.kind === 'sectionStride') this.section[p] = how.section
    const from = how.kind === 'baseOffset' ? how.base : how.kind === 'default' ? how.value : null
    if (from?.kind === 'reference') this.referenceFrom[p] = from.position
    else if (from?.kind === 'number') setPair(this.reference, p, from.value)
    if (value?.kind === 'reference') this.fixed[p] = value.position
    else if (value?.kind === 'number') {
      this.fixed[p] = NUMBER
      setPair(this.fixedWords, p, value.value)
    }
  }

  /** Changes the width of leaf p. Returns a message if that is impossible (and changes nothing), or an empty string. */
  setWidth(p: number, bytes: number): string {
    if (this.isBytes[p] === 0 && bytes > INT_BYTES) return `a width of ${bytes} bytes for ${this.nameOf(p)}, a number`
    const { role } = this.record
    if ((role === 'metadata' || role === 'section') && bytes === 0) return `a width of 0 bytes for ${this.nameOf(p)}`
    if (bytes !== 0) this.storedWidth[p] = bytes
    if (IS_STORED[this.mode[p]]) this.width[p] = bytes
    this.touched[p] = 1
    this.refresh(p)
    return ''
  }

  /**
   * Changes the interpretation of leaf p. Stored values take the last width that was not 0.
   *
   * @param words the arguments, as pairs of words from `at` on; strides of stride with their sign in the whole pair
   */
  setMode(p: number, mode: number, words: Uint32Array, at: number): void {
    this.moving -= this.moves(p)
    this.mode[p] = mode
    this.width[p] = IS_STORED[mode] ? this.storedWidth[p] : 0
    this.referenceFrom[p] = -1
    this.touched[p] = 1
    if (mode === Mode.sectionOffset || mode === Mode.sectionStride) this.section[p] = doubleAt(words, at / 2)
    else if (mode !== Mode.none) this.reference.set(words.subarray(at, at + 2), 2 * p)
    if (mode === Mode.stride || mode === Mode.sectionStride) this.stride.set(words.subarray(at + 2, at + 4), 2 * p)
    this.committed.set(this.reference.subarray(2 * p, 2 * p + 2), 2 * p)
    this.moving += this.moves(p)
    this.refresh(p)
  }

  /** Completes the record: its values become the previous ones. */
  commit(): void {
    const { reference, committed } = this
    // A call of `set` costs more than a short loop.
    if (reference.length > 32) committed.set(reference)
    else for (let i = 0; i < reference.length; i++) committed[i] = reference[i]
  }

  /** Undoes the current record. */
  undo(): void {
    this.reference.set(this.committed)
  }

  nameOf(p: number): string {
    return `field ${p} (${this.record.leaves[p]?.name}) of ${this.record.name}`
  }

  /** 1 if later values of leaf p depend on earlier ones. */
  private moves(p: number): number {
    const mode = this.mode[p]
    return Number(mode === Mode.delta || mode === Mode.stride || mode === Mode.sectionStride)
  }

  /** Updates the data of leaf p for generated code. */
  private refresh(p: number): void {
    const leaf = this.mapping?.leaves[p]
    const isSilent = leaf?.silent === true && this.touched[p] === 0
    this.how[p] = isSilent ? SILENT : this.isBytes[p] === 1 || this.fixed[p] !== ANY ? GENERAL : this.plainHow(p)
    if (leaf === undefined || leaf.field < 0 || isSilent) return
    // Bytes may be missing, and numbers too large for 32 bits.
    const bit = 1 << leaf.field
    if (leaf.type !== 'string' && leaf.type !== 'bytes') this.columns |= bit
    if (leaf.type === 'u64' || leaf.type === 'address') this.fields |= bit
  }

  private plainHow(p: number): number {
    const mode = this.mode[p]
    const width = this.width[p]
    if ((mode === Mode.none || mode === Mode.sectionOffset) && width >= 0 && width <= INT_BYTES) return width
    return mode === Mode.default && this.referenceFrom[p] < 0 ? BY_DEFAULT : GENERAL
  }
}

/** The layouts of all record types in one section. */
export class SectionLayouts {
  /** By tag below 256, the position of the record in the mapping if there is a layout of it, else -1. */
  readonly index = new Int16Array(256).fill(-1)
  /** The layouts of records that are events, by their positions in the mapping. */
  readonly byPosition: (Layout | undefined)[] = []
  private readonly byTag = new Map<number, Layout>()
  private rawLayout: Layout | undefined

  constructor(
    readonly section: Section,
    private readonly owner: Layouts,
  ) {}

  /** The layout for a tag here, or undefined if there is none. */
  of(tag: number): Layout | undefined {
    const known = this.byTag.get(tag)
    const record = known === undefined ? this.section.tags.get(tag) : undefined
    if (record === undefined) return known
    const layout = this.owner.make(record)
    this.byTag.set(tag, layout)
    const { mapping } = layout
    if (mapping !== undefined) {
      this.byPosition[mapping.position] = layout
      if (tag < 256) this.index[tag] = mapping.position
    }
    return layout
  }

  /** The position in the mapping of the record with that tag if there is a layout of it, else -1. */
  positionOf(tag: number): number {
    return this.byTag.get(tag)?.mapping?.position ?? -1
  }

  /** The elements of a section without tags. */
  get raw(): Layout {
    return (this.rawLayout ??= this.owner.make((this.section.element as { record: RecordType }).record))
  }

  /**
   * Applies a metadata record.
   *
   * @param tag of the record type that is changed
   * @param p the position of its field
   * @param words the numbers after the property, as pairs of words from `at` on
   * @returns a message if it is invalid (and changes nothing), or an empty string
   */
  apply(tag: number, p: number, property: number, words: Uint32Array, at: number): string {
    const { plan } = this.owner
    const layout = this.of(tag)
    if (layout === undefined) return `metadata for the unknown tag ${tag}`
    const { record } = layout
    if (p >= record.leaves.length) return `metadata for the unknown field ${p} of ${record.name}`
    if (record.leaves[p].name === 'tag') return 'metadata for a tag'
    if (property === 0) return layout.setWidth(p, doubleAt(words, at / 2))
    const { name } = METADATA_PROPERTIES[property]
    const what = `interpretation ${name}`
    if (property !== Mode.none) {
      if (layout.isBytes[p] === 1) return `${what} for ${layout.nameOf(p)}, which is bytes and no number`
      if (record.role !== 'data') return `${what} for ${layout.nameOf(p)}`
    }
    if (property === Mode.sectionOffset || property === Mode.sectionStride) {
      const section = doubleAt(words, at / 2)
      if (!plan.sections.has(section) || section === 0) return `${what} with the unknown section ${section}`
      if (property === Mode.sectionStride) {
        if (!plan.tables.has(section)) return `${what} with section ${section}, which is no table`
        if (plan.tables.has(this.section.id)) return `${what} in the table that section ${this.section.id} is`
        if (words[at + 2 + HI] !== 0) return 'a stride of 2^32 or more for sectionStride'
      }
    }
    layout.setMode(p, property, words, at)
    return ''
  }
}

/** The layouts of all record types in all sections, created on demand. */
export class Layouts {
  private readonly sections = new Map<number, SectionLayouts>()
  private leaves = 0

  constructor(readonly plan: Plan) {}

  /** The layouts of one section of the DTD. */
  of(section: number): SectionLayouts {
    let layouts = this.sections.get(section)
    if (layouts === undefined) {
      layouts = new SectionLayouts(this.plan.sections.get(section) as Section, this)
      this.sections.set(section, layouts)
    }
    return layouts
  }

  /** The layout of a record type as the DTD has it. @throws RangeError if there are too many */
  make(record: RecordType): Layout {
    this.leaves += record.leaves.length
    if (this.leaves > MAX_LAYOUTS)
      throw new RangeError(`the record types of all sections have more than ${MAX_LAYOUTS} fields`)
    return new Layout(record, this.plan.mappings.get(record))
  }
}

/** The constant properties of a DTD's traces, besides the records. */
export class Plan {
  readonly sections: ReadonlyMap<number, Section>
  /**
   * The sections whose elements fields with sectionStride take: those named in the DTD, and those with elements without
   * tags, which have no other use. Their records are not events.
   */
  readonly tables: ReadonlySet<number>
  /** The sections that consist of values without tags. */
  readonly raw: ReadonlySet<number>

  constructor(
    readonly dtd: Dtd,
    readonly mappings: ReadonlyMap<RecordType, RecordMapping>,
  ) {
    this.sections = new Map(dtd.sections.map((section) => [section.id, section]))
    this.raw = new Set(dtd.sections.filter(({ element }) => element?.record.tag === null).map(({ id }) => id))
    this.tables = new Set([...this.raw, ...tablesOf(dtd)])
  }
}

/** The plan of binary traces. @throws RangeError if the DTD is not of version 1.0, the only one that describes them */
export function binaryPlan(dtd: Dtd, mappings: ReadonlyMap<RecordType, RecordMapping>): Plan {
  if (dtd.tagWidth === null)
    throw new RangeError(`${dtd.file} is of Meta-TF ${dtd.version}, which has no binary traces`)
  return new Plan(dtd, mappings)
}
