import { LF, SPACE } from '../../text/ascii.js'
import { formatFrame, parseFrame } from '../../event/frame.js'
import { decodeText, encodeText } from '../../event/strings.js'
import { MAX_LINE } from './layout.js'

/** Longer names are truncated. */
const MAX_NAME = MAX_LINE - 64

/** The bytes of a name in a form that can be written: a line feed would end the line. */
export function nameBytes(name: string): Uint8Array {
  const bytes = encodeText(name)
  return bytes.map((byte) => (byte === LF ? SPACE : byte)).subarray(0, MAX_NAME)
}

/**
 * The maximum number of bytes of a frame's text when it is read again from an interpreted file. It may have fewer,
 * because frames at some positions lose the module, the address, or the mark of inlining.
 */
export function bytesReadAgain(text: string): number {
  const { function: name, file, line, module, address, inlined } = parseFrame(text)
  const again = (part: string) => decodeText(nameBytes(part))
  return encodeText(
    formatFrame({
      ...(name && { function: again(name) }),
      ...(file && { file: again(file) }),
      ...(file && { line: line ?? 0 }),
      ...(module && { module: again(module) }),
      ...(address !== undefined && { address }),
      ...(inlined && { inlined }),
    }),
  ).length
}
