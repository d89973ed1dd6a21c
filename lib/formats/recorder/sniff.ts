/** The first bytes of a recording: a byte that is in no text, `HFREC` and a line feed. The version follows. */
export const MAGIC = Uint8Array.of(0x89, 0x48, 0x46, 0x52, 0x45, 0x43, 0x0a)

/** Whether bytes are the beginning of a recording. */
export function sniff(head: Uint8Array): boolean {
  return head.length >= MAGIC.length && MAGIC.every((byte, i) => head[i] === byte)
}
