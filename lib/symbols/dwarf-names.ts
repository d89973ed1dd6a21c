import { decodeText } from '../event/strings.js'

/**
 * Reads the full names of functions of which DWARF (2 to 5) has no linkage name: GCC gives none to templates over types
 * that are local to a function, such as lambdas, and tools then name what was inlined without its namespace and class.
 * Nothing in the file is trusted: what is damaged ends the reading, with the names before it.
 */

/** The parts of a file with debug information. */
export interface DebugSections {
  readonly little: boolean
  /** `.debug_info`, `.debug_abbrev`, `.debug_str` and `.debug_line_str`, as far as they are there. */
  readonly info: Uint8Array
  readonly abbrev: Uint8Array
  readonly str: Uint8Array
  readonly lineStr: Uint8Array
}

/** The maximum number of attributes of abbreviations that are read, over all units. A table counts as several. */
const MAX_ABBREVIATIONS = 4_194_304
const TABLE_COST = 16
/** The maximum depth of entries, and the length of a name. */
const MAX_DEPTH = 1024
const MAX_NAME_BYTES = 8192
/**
 * The maximum number of bytes of names that are examined, including the scopes of each name, and of scopes. A name that
 * becomes a string costs more: this also bounds how many are kept.
 */
const MAX_TEXT_BYTES = 67_108_864
const TEXT_COST = 256
/** The maximum number of attributes that are passed, in some seconds: an entry of one byte may have any number. */
const MAX_ATTRIBUTES = 134_217_728

const [DW_AT_NAME, DW_AT_LINKAGE_NAME, DW_AT_MIPS_LINKAGE_NAME] = [0x03, 0x6e, 0x2007]
const DW_TAG_SUBPROGRAM = 0x2e
const DW_TAG_NAMESPACE = 0x39
/** Types and functions, whose names are parts of the names of their contents. */
const SCOPES: ReadonlySet<number> = new Set([0x02, 0x04, 0x13, 0x17, DW_TAG_SUBPROGRAM, DW_TAG_NAMESPACE])
const [TYPE_UNIT, SKELETON_UNIT, SPLIT_COMPILE_UNIT, SPLIT_TYPE_UNIT] = [2, 4, 5, 6]
const LESS_THAN = 0x3c
const UNNAMED = '(anonymous namespace)'

/** The sizes of forms: bytes, or see below. Others make a unit unreadable. */
const [ADDRESS, OFFSET, ULEB, BLOCK, TEXT, REFERENCE, INDIRECT] = [-1, -2, -3, -4, -5, -6, -7]
const BLOCK1 = -8
const BLOCK2 = -9
const BLOCK4 = -10
const FORMS: ReadonlyMap<number, number> = new Map(
  (
    [
      [0, [0x19, 0x21]],
      [1, [0x0b, 0x0c, 0x11, 0x25, 0x29]],
      [2, [0x05, 0x12, 0x26, 0x2a]],
      [3, [0x27, 0x2b]],
      [4, [0x06, 0x13, 0x1c, 0x28, 0x2c]],
      [8, [0x07, 0x14, 0x20, 0x24]],
      [16, [0x1e]],
      [ADDRESS, [0x01]],
      [OFFSET, [0x0e, 0x17, 0x1d, 0x1f, 0x1f20, 0x1f21]],
      [ULEB, [0x0d, 0x0f, 0x15, 0x1a, 0x1b, 0x22, 0x23, 0x1f01, 0x1f02]],
      [BLOCK, [0x09, 0x18]],
      [BLOCK1, [0x0a]],
      [BLOCK2, [0x03]],
      [BLOCK4, [0x04]],
      [TEXT, [0x08]],
      [REFERENCE, [0x10]],
      [INDIRECT, [0x16]],
    ] as const
  ).flatMap(([size, forms]) => forms.map((form) => [form, size] as const)),
)
const [DW_FORM_STRING, DW_FORM_STRP, DW_FORM_LINE_STRP, DW_FORM_IMPLICIT_CONST] = [0x08, 0x0e, 0x1f, 0x21]

interface Abbreviation {
  readonly tag: number
  readonly hasChildren: boolean
  /** Attributes and forms in turn. */
  readonly attributes: readonly number[]
}

/** The position of a name. */
interface Place {
  readonly bytes: Uint8Array
  readonly at: number
}

/** An entry that others are in. */
interface Scope {
  readonly tag: number
  /** Undefined if it has none, and null if that is in another file, or found otherwise. */
  readonly name: Place | null | undefined
  /** The text of the name, once it was needed. */
  text?: string
}

/** The error that ends the reading. */
class Unreadable extends Error {}

/**
 * The full names of functions with template arguments that have no linkage name, by their short ones. A short name that
 * stands for several is left out.
 */
export function scopedNames(sections: DebugSections): ReadonlyMap<string, string> {
  const reader = new NameReader(sections)
  try {
    reader.read()
  } catch (error) {
    if (!(error instanceof Unreadable) && !(error instanceof RangeError)) throw error
  }
  return new Map([...reader.names].filter((entry): entry is [string, string] => entry[1] !== null))
}

/** Reads numbers of any length. */
class Numbers {
  constructor(
    protected readonly bytes: Uint8Array,
    protected at = 0,
  ) {}

  /** A number in LEB128: of more than 28 bits only the length matters. */
  uleb(): number {
    const { bytes } = this
    let value = 0
    for (let shift = 0; ; shift += 7) {
      if (this.at >= bytes.length) throw new Unreadable()
      const byte = bytes[this.at++]
      if (shift < 28) value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }

  /** The next byte. */
  byte(): number | undefined {
    return this.bytes[this.at++]
  }
}

class NameReader extends Numbers {
  /** By short name the full one; null for several. */
  readonly names = new Map<string, string | null>()
  private readonly view: DataView
  private readonly tables = new Map<number, ReadonlyMap<number, Abbreviation>>()
  private abbreviations = 0
  private attributes = 0
  private textBytes = 0
  /** The sizes of offsets and addresses in the unit, and its version. */
  private offsetSize: 4 | 8 = 4
  private addressSize = 8
  private version = 4

  constructor(private readonly sections: DebugSections) {
    const { info } = sections
    super(info)
    this.view = new DataView(info.buffer, info.byteOffset, info.length)
  }

  read(): void {
    const { view, sections } = this
    const { little, info } = sections
    while (this.at + 11 < info.length) {
      let length = view.getUint32(this.at, little)
      this.at += 4
      this.offsetSize = length === 0xffff_ffff ? 8 : 4
      if (this.offsetSize === 8) length = this.fixed(8)
      const end = this.at + length
      if (end > info.length) throw new Unreadable()
      this.version = this.fixed(2)
      if (this.version < 2 || this.version > 5) throw new Unreadable()
      const type = this.version < 5 ? 0 : this.fixed(1)
      if (type !== 0) this.addressSize = this.fixed(1)
      const table = this.tableAt(this.fixed(this.offsetSize))
      if (type === 0) this.addressSize = this.fixed(1)
      if (type === TYPE_UNIT || type === SPLIT_TYPE_UNIT) this.at += 8 + this.offsetSize
      if (type === SKELETON_UNIT || type === SPLIT_COMPILE_UNIT) this.at += 8
      this.readEntries(table, end)
      this.at = end
    }
  }

  private readEntries(table: ReadonlyMap<number, Abbreviation>, end: number): void {
    const scopes: Scope[] = []
    while (this.at < end) {
      const code = this.uleb()
      if (code === 0) {
        if (scopes.pop() === undefined) return
        continue
      }
      const abbreviation = table.get(code)
      if (abbreviation === undefined) throw new Unreadable()
      const { tag, attributes, hasChildren } = abbreviation
      this.attributes += attributes.length / 2 + 1
      if (this.attributes > MAX_ATTRIBUTES) throw new Unreadable()
      let name: Place | null | undefined
      let isLinked = false
      for (let i = 0; i < attributes.length; i += 2) {
        const attribute = attributes[i]
        if (attribute === DW_AT_NAME) name = this.place(attributes[i + 1]) ?? null
        isLinked ||= attribute === DW_AT_LINKAGE_NAME || attribute === DW_AT_MIPS_LINKAGE_NAME
        this.skip(attributes[i + 1])
      }
      if (tag === DW_TAG_SUBPROGRAM && !isLinked && name) this.note(name, scopes)
      if (!hasChildren) continue
      if (scopes.length === MAX_DEPTH) throw new Unreadable()
      scopes.push({ tag, name })
    }
  }

  /** Notes a function. @param scopes its scopes, from the unit on */
  private note(place: Place, scopes: readonly Scope[]): void {
    const bytes = nameAt(place)
    this.spend((bytes?.length ?? MAX_NAME_BYTES) + scopes.length)
    if (bytes === undefined || !bytes.includes(LESS_THAN)) return
    this.spend(TEXT_COST)
    const name = decodeText(bytes)
    const parts: string[] = []
    for (const scope of scopes) {
      if (!SCOPES.has(scope.tag)) continue
      if (scope.name === null) return
      const part = (scope.text ??= this.textOf(scope.tag, scope.name))
      if (part === '') continue
      // The names of functions repeat their scopes' names.
      this.spend(part.length)
      parts.push(part)
    }
    const full = [...parts, name].join('::')
    const known = this.names.get(name)
    this.names.set(name, known === undefined || known === full ? full : null)
  }

  private textOf(tag: number, place: Place | undefined): string {
    if (place === undefined) return tag === DW_TAG_NAMESPACE ? UNNAMED : ''
    const bytes = nameAt(place)
    this.spend((bytes?.length ?? MAX_NAME_BYTES) + TEXT_COST)
    return bytes === undefined ? '' : decodeText(bytes)
  }

  private spend(bytes: number): void {
    this.textBytes += bytes + 1
    if (this.textBytes > MAX_TEXT_BYTES) throw new Unreadable()
  }

  /** The position of the name with a form here; undefined if it is in another file, or is found otherwise. */
  private place(form: number): Place | undefined {
    const { sections, at } = this
    if (form === DW_FORM_STRING) return { bytes: sections.info, at }
    if (form !== DW_FORM_STRP && form !== DW_FORM_LINE_STRP) return undefined
    const offset = this.fixed(this.offsetSize)
    this.at = at
    const bytes = form === DW_FORM_STRP ? sections.str : sections.lineStr
    return offset < bytes.length ? { bytes, at: offset } : undefined
  }

  private skip(form: number): void {
    const size = FORMS.get(form)
    if (size === undefined) throw new Unreadable()
    if (size >= 0) this.at += size
    else if (size === OFFSET) this.at += this.offsetSize
    else if (size === ULEB) this.uleb()
    else if (size === TEXT) this.at = after(this.sections.info, this.at)
    else if (size === ADDRESS) this.at += this.addressSize
    else if (size === REFERENCE) this.at += this.version === 2 ? this.addressSize : this.offsetSize
    else if (size === INDIRECT) this.skipIndirect()
    else {
      const length = size === BLOCK ? this.uleb() : this.fixed(size === BLOCK1 ? 1 : size === BLOCK2 ? 2 : 4)
      this.at += length
    }
  }

  private skipIndirect(): void {
    const form = this.uleb()
    if (FORMS.get(form) === INDIRECT) throw new Unreadable()
    this.skip(form)
  }

  /** A number of some bytes. @throws RangeError at the end */
  private fixed(size: number): number {
    const { view, at } = this
    const { little } = this.sections
    this.at += size
    if (size === 1) return view.getUint8(at)
    if (size === 2) return view.getUint16(at, little)
    if (size === 4) return view.getUint32(at, little)
    const value = view.getBigUint64(at, little)
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Unreadable()
    return Number(value)
  }

  private tableAt(offset: number): ReadonlyMap<number, Abbreviation> {
    const known = this.tables.get(offset)
    if (known !== undefined) return known
    const numbers = new Numbers(this.sections.abbrev, offset)
    const table = new Map<number, Abbreviation>()
    this.abbreviations += TABLE_COST
    if (this.abbreviations > MAX_ABBREVIATIONS) throw new Unreadable()
    for (let code = numbers.uleb(); code !== 0; code = numbers.uleb()) {
      const tag = numbers.uleb()
      const hasChildren = numbers.byte() === 1
      const attributes: number[] = []
      for (;;) {
        if (++this.abbreviations > MAX_ABBREVIATIONS) throw new Unreadable()
        const attribute = numbers.uleb()
        const form = numbers.uleb()
        if (form === DW_FORM_IMPLICIT_CONST) numbers.uleb()
        if (attribute === 0 && form === 0) break
        attributes.push(attribute, form)
      }
      table.set(code, { tag, hasChildren, attributes })
    }
    this.tables.set(offset, table)
    return table
  }
}

/** The position after a text that ends with a zero. */
function after(bytes: Uint8Array, at: number): number {
  const end = bytes.indexOf(0, at)
  if (end < 0) throw new Unreadable()
  return end + 1
}

/** The bytes of a name; undefined if it has no end, or is too long. */
function nameAt({ bytes, at }: Place): Uint8Array | undefined {
  const most = bytes.subarray(at, at + MAX_NAME_BYTES)
  const end = most.indexOf(0)
  return end < 0 ? undefined : most.subarray(0, end)
}
