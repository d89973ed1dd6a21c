export { BinaryDecoder, binaryDecoder, type BinaryDecodeOptions } from './decode.js'
export { BinaryEncoder, binaryEncoder, carriedBy, type BinaryEncodeOptions } from './encode.js'
export {
  formatFileHeader,
  hasMagic,
  parseFileHeader,
  type ByteOrder,
  type FileHeader,
  type SectionHeader,
} from './layout.js'
export type { ReadAt } from './pull.js'
