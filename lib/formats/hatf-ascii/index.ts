import { decodeText } from '../../event/strings.js'
import { AsciiDecoder } from '../../metatf/ascii/decode.js'
import { AsciiEncoder } from '../../metatf/ascii/encode.js'
import type { EncodeOptions, Format } from '../format.js'
import { CARRIED, HATF_12, HEAD, NAME, WRITTEN_AS } from './layout.js'

export { HATF_12 } from './layout.js'

/** The lines of the head as far as they are whole, the empty one, and a record as far as the head of the stream goes. */
const BEGINNING = /^((?:##[ \t]*[^\s:][^\n:]*:[^\n]*\n)*)(?:##[^\n]*$|(?:\r?\n)*(?:(?:[1-9]|10)(?:[ \t]+(?:0x)?[\da-f]+)*[ \t]*(?:\r?\n|$)|$))/i
/** The file is a DTD, not a trace. */
const IS_DTD = /^##[ \t]*(?:DTDname|MetaTF):/im
/** A trace by this DTD, or one of that name. */
const OTHER_DTD = /^##[ \t]*DTDURL:(?![^\n]*hatf)[^\n]*\n/im

/** HATF in ASCII as mpatrol writes it: lines by a DTD of Meta-TF 1.2. */
export const hatfAscii: Format<object, EncodeOptions> = {
  name: NAME,
  title: 'HATF in ASCII',
  extensions: ['.hatf.txt'],
  binary: false,
  carried: CARRIED,
  writtenAs: WRITTEN_AS,
  decodeOptions: {},
  encodeOptions: {},
  sniff: (head) => {
    const text = decodeText(head.subarray(0, 4096))
    return text.startsWith('##') && BEGINNING.test(text) && !IS_DTD.test(text) && !OTHER_DTD.test(text)
  },
  decoder: () => new AsciiDecoder(HATF_12, { name: NAME }),
  encoder: ({ strict = false }: EncodeOptions = {}) => new AsciiEncoder(HATF_12, { name: NAME, head: HEAD, strict }),
}
