/**
 * The fast path of kmemtrace: allocations and frees of known types without features, to columns and back, in every
 * layout. Everything else goes to lib/formats/kmemtrace, which then resumes the kernel.
 */

export { decode, position } from './kmemtrace/decode'
export { encode, sequence, written } from './kmemtrace/encode'
export { INPUT, OUTPUT } from './kmemtrace/layout'
export {
  ADDRESS,
  API,
  ATTRIBUTES,
  CALL_SITE,
  CODE,
  CPU,
  ELEMENTS,
  GFP_FLAGS,
  KIND,
  MASK,
  NODE,
  SEQUENCE,
  SIZE,
  TIME,
  USABLE,
} from './shared/columns'
