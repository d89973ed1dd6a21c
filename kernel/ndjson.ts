/** NDJSON: lines of events to columns, and columns to lines. See lib/formats/ndjson. */

export * from './shared/columns'
export { SCRATCH } from './shared/json'
export {
  internList,
  LISTED,
  listed,
  LISTS,
  lists,
  setSeed,
  STARTS,
  stringBytes,
  STRINGS,
  strings,
} from './shared/strings'
export { INPUT } from './ndjson/input'
export { begin, decode, emptyLines, fields, position, stop } from './ndjson/decode'
export {
  beginStrings,
  encode,
  needed,
  OUTPUT,
  prepareText,
  rest,
  writeBytes,
  writeList,
  written,
} from './ndjson/encode'
export { findLoose, kindAt, looseKind, unknownName } from './ndjson/names'
export {
  API_SLOTS,
  API_TEXTS,
  FIELD_SLOTS,
  FIELD_TEXTS,
  KIND_SLOTS,
  KIND_TEXTS,
  OUTCOME_SLOTS,
  OUTCOME_TEXTS,
} from './ndjson/texts'
export { bytes, internScratch, list, signed, unknownString } from './ndjson/values'
