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
export {
  begin,
  bytes,
  decode,
  fields,
  findLoose,
  internScratch,
  kindAt,
  list,
  looseKind,
  position,
  signed,
  stop,
  unknownName,
  unknownString,
} from './ndjson/decode'
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
