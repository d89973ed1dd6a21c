import { HatfDecoder } from './decode.js'
import { formOf } from './split/layout.js'

/**
 * Whether bytes may well be the beginning of a HATF file. The single-file form has a magic number. For a stream of
 * records there is none to go by, so this tries: they must make sense as far as they go, one of them at least must be
 * whole, and the bytes must be neither text nor all zero. Formats that have a magic number are to be tried before.
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
