import type { Writable } from 'node:stream'

/**
 * Makes a stream in object mode take text that is written in an encoding other than UTF-8 (`base64`, `hex`) as its
 * bytes, as Node's byte streams do.
 */
export function acceptEncodings(stream: Writable): void {
  const write = stream._write
  stream._write = (chunk, encoding, done) => write.call(stream, withoutEncoding(chunk, encoding), encoding, done)
}

/** The bytes of text in an encoding other than UTF-8; any other chunk as it is. */
export function withoutEncoding(chunk: unknown, encoding: unknown): unknown {
  const isEncoded = typeof chunk === 'string' && typeof encoding === 'string' && !/^utf-?8$/i.test(encoding)
  return isEncoded ? Buffer.from(chunk, encoding as BufferEncoding) : chunk
}

/** The same bytes as a Buffer, which is what readers of Node's byte streams expect. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
