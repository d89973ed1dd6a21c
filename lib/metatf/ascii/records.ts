import { meaningError, quote } from '../errors.js'
import { Layouts, Plan, type Layout } from '../layout.js'
import type { AsciiRecords } from './reader.js'
import type { Mapping } from '../mapping.js'
import type { Dtd, RecordType } from '../model.js'

/**
 * The layouts of the records that lines can be by a DTD of 1.2, in whatever section they are defined.
 * @throws DtdError if the DTD is not of 1.2, or asks for what lines cannot say
 */
export function asciiRecords(dtd: Dtd, mapping: Mapping): AsciiRecords & { readonly byPosition: readonly Layout[] } {
  check(dtd)
  const layouts = new Layouts(new Plan(dtd, mapping.of))
  const byTag = new Map<number, RecordType>()
  const positions = new Map<number, number>()
  const index = new Int16Array(256).fill(-1)
  for (const { record, position } of mapping.records) {
    const tag = record.tag as number
    const other = byTag.get(tag)
    if (other !== undefined) {
      const reason = `have the same tag, ${tag}: lines in ASCII do not say in which section they are`
      const names = `${quote(record.name)} and ${quote(other.name)}`
      throw meaningError(`${names} ${reason}`, record.at, `${quote(other.name)} is defined`, other.at)
    }
    byTag.set(tag, record)
    positions.set(tag, position)
    if (tag < index.length) index[tag] = position
  }
  return {
    index,
    byPosition: mapping.records.map(({ record }) => layouts.make(record)),
    positionOf: (tag) => positions.get(tag) ?? -1,
  }
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
