/** Whether bytes are the beginning of lines of JSON: of an object, maybe behind a byte order mark. */
export function sniff(head: Uint8Array): boolean {
  return /^(?:\xef\xbb\xbf)?\s*\{/.test(Buffer.from(head.subarray(0, 64)).toString('latin1'))
}
