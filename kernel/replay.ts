/** memory_replay: lines of text to columns, and columns to lines. See lib/formats/replay. */

export {
  ADDRESS,
  ALIGNMENT,
  API,
  ELEMENT_SIZE,
  ELEMENTS,
  END_TIME,
  KIND,
  MASK,
  OLD_ADDRESS,
  OUTCOME,
  PRESENT,
  SIZE,
  THREAD,
  TIME,
} from './shared/columns'
export { decode, fault, faultAt, fields, lines, position } from './replay/decode'
export { encode, lineStart, written } from './replay/encode'
export { notes, writtenAs } from './replay/notes'
export { INPUT, OUTPUT } from './replay/text'
