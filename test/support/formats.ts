import type { Format } from '../../lib/event/format.js'
import { FORMATS as ALL } from '../../lib/formats/index.js'

/** Every format that is read as a stream, loaded, in the order of the list. */
export const FORMATS: readonly Format[] = await Promise.all(
  ALL.filter(({ fromFile }) => fromFile !== true).map((format) => format.load()),
)

/** The format of this name. */
export function formatNamed(name: string): Format | undefined {
  return FORMATS.find((format) => format.name === name)
}

/** The format of bytes, by the formats' own `sniff`. */
export function sniffFormat(head: Uint8Array): Format | undefined {
  return FORMATS.find((format) => format.sniff(head))
}
