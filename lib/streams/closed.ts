import type { Readable, Writable } from 'node:stream'

/** Resolves when a stream is closed. */
export async function closed(stream: Readable | Writable): Promise<void> {
  if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve))
}
