import { DtdError, parseDtd, type Dtd, type Leaf, type RecordType } from '../../lib/metatf/index.js'

/** The error that a DTD gives, which is parsed under the name `x.dtd`. */
export function dtdError(text: string | Uint8Array): DtdError {
  try {
    parseDtd(text, 'x.dtd')
  } catch (error) {
    if (error instanceof DtdError) return error
    throw error
  }
  throw new Error(`no error in:\n${text.slice(0, 1000)}`)
}

/** The record type of that name, in whatever section. */
export function recordOf({ sections }: Dtd, name: string): RecordType {
  const found = sections.flatMap(({ records }) => records).find((record) => record.name === name)
  if (found === undefined) throw new Error(`there is no record ${name}`)
  return found
}

/** A leaf of a record, by its names: the first of that name. */
export function leafOf(dtd: Dtd, record: string, name: string): Leaf {
  const found = recordOf(dtd, record).leaves.find((leaf) => leaf.name === name)
  if (found === undefined) throw new Error(`there is no field ${name}`)
  return found
}

/** A model without its places and the file's name, for comparison. */
export function withoutPlaces(model: unknown): unknown {
  if (model instanceof Map) return withoutPlaces([...model])
  if (Array.isArray(model)) return model.map(withoutPlaces)
  if (typeof model !== 'object' || model === null) return model
  return Object.fromEntries(
    Object.entries(model)
      .filter(([key]) => key !== 'at' && key !== 'file')
      .map(([key, value]) => [key, withoutPlaces(value)]),
  )
}
