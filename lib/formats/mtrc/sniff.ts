import { readHeader } from './layout.js'

/** Whether bytes are the beginning of an MTRC file: of a header of any version, word size and byte order. */
export function sniff(head: Uint8Array): boolean {
  return head.length > 0 && readHeader(head, 0, head.length) !== 'bad'
}
