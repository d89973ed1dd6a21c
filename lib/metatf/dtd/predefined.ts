import { meaningError, quote } from '../errors.js'
import type { Leaf, RecordType } from '../model.js'
import { INTERPRETATIONS, type InterpretationName } from './syntax.js'

/** The name of the language's own definitions in messages. */
export const PREDEFINED_FILE = 'predefined'

/**
 * The record types of every DTD of version 1.0, as Appendix B defines them, with the properties that it leaves open:
 * the section number takes one byte, because IDs go up to 255, and the property and value of metadata are stored
 * unchanged.
 */
export const PREDEFINED_TEXT = `\
vfield : (length, data) {
    length.width = 1; length.interpretation = none;
    data.width = length.value; data.interpretation = none;
}
comment : vfield {
    tag.value = 1;
}
section : (tag, number) {
    tag.value = 2;
    number.width = 1; number.interpretation = none;
}
metadata : (tag, record, field, property, value) {
    tag.value = 3;
    record.width = tag.width; record.interpretation = none;
    field.width = 1; field.interpretation = none;
    property.width = 1; property.interpretation = none;
    value.width = 4; value.interpretation = none;
}
`

/**
 * The meanings of the `property` of a metadata record, by value: a width, or an interpretation; and the number of
 * arguments after it, each as wide as the record's `value` field. Strides are signed. The order is as in the table in
 * Appendix B.
 */
export const METADATA_PROPERTIES: readonly { readonly name: 'width' | InterpretationName; readonly values: number }[] =
  [
    { name: 'width', values: 1 },
    ...Object.entries(INTERPRETATIONS).map(([name, { length }]) => ({
      name: name as InterpretationName,
      values: length,
    })),
  ]

/**
 * Checks a predefined record type that the DTD defines again: it may choose other widths, but must otherwise be the
 * same. Throws a DtdError where it is not.
 */
export function checkRestated(stated: RecordType, predefined: RecordType): void {
  const record = quote(stated.name)
  const fail = (reason: string): never => {
    throw meaningError(
      `${record} is predefined and must have ${reason}`,
      stated.at,
      `${record} is defined`,
      predefined.at,
    )
  }
  const names = ({ leaves }: RecordType) => leaves.map(({ name }) => name).join(', ')
  const isFlat = stated.fields.every(({ kind }) => kind === 'leaf')
  if (!isFlat || names(stated) !== names(predefined)) fail(`the fields ${names(predefined)}`)
  if (stated.tag !== predefined.tag) fail(`the tag ${predefined.tag}, not ${stated.tag}`)
  for (const [position, leaf] of stated.leaves.entries()) {
    if (sameButForWidth(leaf, predefined.leaves[position])) continue
    const reason = `of ${quote(leaf.name)} in the predefined ${record} only the width can be chosen, from 1 to 8 bytes`
    throw meaningError(reason, leaf.at, `${quote(leaf.name)} is defined`, predefined.leaves[position].at)
  }
}

function sameButForWidth(a: Leaf, b: Leaf): boolean {
  if (a.interpretation.kind !== b.interpretation.kind || (a.value === null) !== (b.value === null)) return false
  if (a.width?.kind === 'constant' && b.width?.kind === 'constant') return a.width.bytes >= 1 && a.width.bytes <= 8
  return a.width?.kind === 'reference' && b.width?.kind === 'reference' && a.width.position === b.width.position
}
