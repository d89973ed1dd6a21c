import { HatfDecoder } from './decode.js'
import { formOf } from './split/layout.js'

/**
 * Whether bytes may be the start of a HATF file. The single-file form has a magic number. A stream of records has none,
 * so this function tries to read it: the records must be valid as far as they go, at least one must be complete, and
 * the bytes must be neither text nor all zero. Formats with a magic number must be tried first.
 */
export function sniff(head: Uint8Array): boolean {
  return formOf(head, true) === 'split' || areRecords(head)
}

function areRecords(head: Uint8Array): boolean {
  if (head.every(isTextByte) || head.every((byte) => byte === 0)) return false
  const decoder = new HatfDecoder({ fold: false })
  decoder.feed(head)
  try {
    while (decoder.next() !== null);
  } catch {
    return false
  }
  return decoder.consumed > 0
}

/** Printable ASCII, bytes of UTF-8 sequences, tabs and line ends. */
function isTextByte(byte: number): boolean {
  return (byte >= 32 && byte !== 127) || (byte >= 9 && byte <= 13)
}
