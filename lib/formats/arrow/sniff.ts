import { FlatReader } from './flatbuffer-read.js'
import { CONTINUATION, FILE_MAGIC, MAX_METADATA, Message, PREFIX_BYTES, SCHEMA } from './layout.js'

/** The bytes of an Arrow file before its stream. */
export const FILE_MAGIC_BYTES = 8

/** Whether bytes are the beginning of an Arrow stream, which is a message with a schema, or of an Arrow file. */
export function sniff(head: Uint8Array): boolean {
  if (isFile(head)) return true
  if (head.length < PREFIX_BYTES) return false
  const view = new DataView(head.buffer, head.byteOffset, head.length)
  const length = view.getInt32(4, true)
  if (view.getUint32(0, true) !== CONTINUATION || length <= 0 || length > MAX_METADATA) return false
  try {
    return FlatReader.root(head.subarray(PREFIX_BYTES, PREFIX_BYTES + length)).i8(Message.kind) === SCHEMA
  } catch {
    // The table may lie beyond the available bytes, so it may be one.
    return head.length < PREFIX_BYTES + length
  }
}

/** Whether bytes are the beginning of an Arrow file. */
export function isFile(head: Uint8Array): boolean {
  return (
    head.length >= FILE_MAGIC_BYTES &&
    Buffer.from(head.subarray(0, FILE_MAGIC_BYTES)).toString('latin1') === `${FILE_MAGIC}\0\0`
  )
}
