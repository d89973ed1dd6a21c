import { MAGIC } from './layout.js'

/** Whether bytes are the beginning of a compact trace: its magic number, or the available part of it. */
export function sniff(head: Uint8Array): boolean {
  const length = Math.min(head.length, MAGIC.length)
  for (let i = 0; i < length; i++) if (head[i] !== MAGIC[i]) return false
  return length > 0
}
