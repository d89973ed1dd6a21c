import { Kind } from '../../event/fields.js'
import { programsOf } from '../ascii/program.js'
import { Plan } from '../binary/states.js'
import { mappingOf, type LeafMapping, type Mapping, type RecordMapping } from '../mapping.js'
import type { Dtd, Field, Leaf, Section } from '../model.js'

/** A section, and those of its records that loops read and write. */
export interface LoopSection {
  readonly section: Section
  readonly records: readonly RecordMapping[]
}

/**
 * The engine does not optimise functions of more than 60 kB of bytecode. A loop has some 100 bytes for each leaf;
 * records beyond so many leaves are left to the universal reader and writer.
 */
const MAX_LEAVES = 200

/** The widest length of bytes. */
const MAX_LENGTH_WIDTH = 4

/** The sections of a DTD of 1.0 that loops are made for. */
export function loopSections(dtd: Dtd, { of }: Mapping): LoopSection[] {
  const plan = new Plan(dtd)
  return dtd.sections.flatMap((section) => {
    if (plan.isRaw(section.id)) return []
    const records: RecordMapping[] = []
    let leaves = 0
    for (const record of section.tags.values()) {
      const mapping = of.get(record)
      if (mapping === undefined || !isLoopable(mapping)) continue
      leaves += record.leaves.length
      if (leaves <= MAX_LEAVES) records.push(mapping)
    }
    return records.length > 0 ? [{ section, records }] : []
  })
}

/**
 * The names of a DTD's own records that no loop reads or writes, so that a compiled module takes as long for them as
 * the universal reader and writer do.
 * @throws DtdError if the DTD is of 1.2 and asks for what lines cannot say
 */
export function recordsWithoutLoop(dtd: Dtd): string[] {
  const mapping = mappingOf(dtd)
  const looped = new Set(
    dtd.version === '1.0'
      ? loopSections(dtd, mapping).flatMap(({ records }) => records.map(({ record }) => record))
      : programsOf(dtd)
          .programs.filter(({ simple }) => simple !== null)
          .map((program) => program.mapping.record),
  )
  return mapping.records.flatMap(({ record }) => (record.predefined || looped.has(record) ? [] : [record.name]))
}

/**
 * Whether records of a type are nothing but values that events have fields for: numbers of fixed width and bytes with
 * their lengths, each once, and no reference but these lengths. All others are rare in traces, or take their time
 * elsewhere (in `fields`).
 */
function isLoopable({ record, kind, section, leaves }: RecordMapping): boolean {
  if (record.role !== 'data' || kind === Kind.other || section !== null || record.fields.some(isRepeated)) return false
  return leaves.slice(1).every((leaf) => isLoopableLeaf(leaf, record.leaves))
}

function isLoopableLeaf({ leaf, field, role, silent }: LeafMapping, leaves: readonly Leaf[]): boolean {
  const { type, width, interpretation, value } = leaf
  if (value !== null || width === null) return false
  if (type === 'bytes')
    return (
      field >= 0 && role === 'value' && (width.kind === 'constant' || isLength(leaves[width.position] as Leaf, leaves))
    )
  if (width.kind === 'reference' || interpretation.kind === 'sectionStride') return false
  if (interpretation.kind === 'baseOffset' && interpretation.base.kind === 'reference') return false
  if (interpretation.kind === 'default' && interpretation.value.kind === 'reference') return false
  return role === 'counted' ? isLength(leaf, leaves) : role === 'value' && (field >= 0 || silent)
}

/** Whether a leaf is the plain length of one leaf of bytes. */
function isLength({ position, interpretation, width }: Leaf, leaves: readonly Leaf[]): boolean {
  const counted = leaves.filter((other) => other.width?.kind === 'reference' && other.width.position === position)
  if (counted.length !== 1 || interpretation.kind !== 'none' || width?.kind !== 'constant') return false
  return width.bytes > 0 && width.bytes <= MAX_LENGTH_WIDTH
}

function isRepeated(field: Field): boolean {
  return field.kind === 'repetition' || (field.kind === 'composite' && field.fields.some(isRepeated))
}

/** The position of the leaf that is the length of a leaf of bytes, or -1 if these are of fixed width. */
export function lengthOf({ width }: Leaf): number {
  return width?.kind === 'reference' ? width.position : -1
}
