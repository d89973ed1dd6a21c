import { MAGIC } from './layout.js'

/** Whether bytes are the beginning of a Parquet file. */
export function sniff(head: Uint8Array): boolean {
  return head.length > MAGIC.length && MAGIC.every((byte, i) => head[i] === byte)
}
