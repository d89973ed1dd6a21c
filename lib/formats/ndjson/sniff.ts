/** Whether bytes are the beginning of lines of JSON: of an object. */
export function sniff(head: Uint8Array): boolean {
  return /^\s*\{/.test(Buffer.from(head.subarray(0, 64)).toString('latin1'))
}
