import { FIELDS, Kind } from '../../event/fields.js'
import { meaningError, quote } from '../errors.js'
import { mappingOf, type LeafMapping, type Mapping, type RecordMapping } from '../mapping.js'
import type { Dtd, Leaf } from '../model.js'
import { fieldNamed } from '../names.js'

/** A record type as the loops see it. */
export interface Program {
  readonly mapping: RecordMapping
  readonly tag: number
  /**
   * The fields of events, as positions in `FIELDS`, that all the words behind the tag are, in their order: 64-bit
   * numbers stored as they are, which loops read and write by themselves. Null if there is more to a record than that.
   */
  readonly simple: Uint8Array | null
  /** Of `simple`, 1 for those that are written in hex. */
  readonly hex: Uint8Array
  /** The set of the fields in `simple`. */
  readonly set: number
}

/**
 * The mapping of a DTD of 1.2, and a program for each of its records.
 * @throws DtdError if the DTD is not of 1.2, or asks for what lines cannot say
 */
export function programsOf(dtd: Dtd): { mapping: Mapping; programs: readonly Program[] } {
  if (dtd.version !== '1.2') {
    const reason = `only a DTD of Meta-TF 1.2 says what is in a trace in ASCII; this is one of ${dtd.version}`
    throw meaningError(reason, { file: dtd.file, line: 1, column: 1 })
  }
  for (const { records } of dtd.sections) {
    for (const { leaves } of records) {
      for (const leaf of leaves) {
        if (leaf.interpretation.kind !== 'sectionStride') continue
        const reason = 'has the interpretation sectionStride: a trace in ASCII has no sections to take values from'
        throw meaningError(`${quote(leaf.name)} ${reason}`, leaf.at)
      }
    }
  }
  const mapping = mappingOf(dtd)
  const programs = mapping.records.map(programOf)
  const byTag = new Map<number, Program>()
  for (const program of programs) {
    const other = byTag.get(program.tag)
    if (other !== undefined) {
      const [a, b] = [program.mapping.record, other.mapping.record]
      const reason = `have the same tag, ${a.tag}: lines in ASCII do not say in which section they are`
      throw meaningError(`${quote(a.name)} and ${quote(b.name)} ${reason}`, a.at, `${quote(b.name)} is defined`, b.at)
    }
    byTag.set(program.tag, program)
  }
  return { mapping, programs }
}

function programOf(mapping: RecordMapping): Program {
  const { record, kind, section, leaves } = mapping
  const words = leaves.slice(1).filter(({ silent, role }) => !silent || role !== 'value')
  const isFlat = record.fields.every((field) => field.kind === 'leaf')
  const isSimple = kind !== Kind.other && section === null && isFlat && words.every(isPlainNumber)
  return {
    mapping,
    tag: record.tag as number,
    simple: isSimple ? Uint8Array.from(words, ({ field }) => field) : null,
    hex: Uint8Array.from(words, ({ leaf }) => (isHex(leaf) ? 1 : 0)),
    set: words.reduce((set, { field }) => (field < 0 ? set : set | (1 << field)), 0),
  }
}

/** Whether a leaf is a 64-bit field of the event, stored as it is. */
function isPlainNumber({ field, type, role, leaf }: LeafMapping): boolean {
  return field >= 0 && (type === 'u64' || type === 'address') && role === 'value' && leaf.interpretation.kind === 'none'
}

/** Whether a number is written in hex: it is called like an address, and not stored as a difference. */
export function isHex({ name, interpretation }: Leaf): boolean {
  const field = fieldNamed(name)
  return interpretation.kind === 'none' && FIELDS.find((known) => known.name === field)?.type === 'address'
}
