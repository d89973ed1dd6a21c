/** The memory of chunks, with the length of the chunk last allocated in it. */
const known = new WeakMap<ArrayBufferLike, number>()

/** The memory of recycled chunks, the most recently used last. */
const spares: ArrayBuffer[] = []

/** The maximum number of pooled pieces: more than the chunks in flight in one pipeline. */
const MAX_SPARES = 8
const MAX_SPARE_BYTES = 1 << 20

/** Below this size, allocating costs no more than searching the pool. */
const LEAST = 4096

/** Allocates an uninitialized chunk, from the pool if a piece of a fitting size is free. */
export function newChunk(length: number): Uint8Array<ArrayBuffer> {
  if (length < LEAST) return new Uint8Array(length)
  for (let s = spares.length - 1; s >= 0; s--) {
    const spare = spares[s]
    // A piece that is much larger would stay alive as long as the chunk.
    if (spare.byteLength < length || spare.byteLength > 2 * length + LEAST) continue
    spares.splice(s, 1)
    known.set(spare, length)
    return new Uint8Array(spare, 0, length)
  }
  const { buffer } = Buffer.allocUnsafeSlow(Math.ceil(length / LEAST) * LEAST)
  known.set(buffer, length)
  return new Uint8Array(buffer, 0, length)
}

/** The first bytes of a chunk as a chunk. The rest is discarded. */
export function cutChunk(chunk: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (known.has(chunk.buffer)) known.set(chunk.buffer, length)
  return chunk.subarray(0, length)
}

/** A chunk that is a copy of these bytes. */
export function chunkOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const chunk = newChunk(bytes.length)
  chunk.set(bytes)
  return chunk
}

/** Returns a chunk to the pool. Ignores bytes that did not come from `newChunk`, and parts of chunks. */
export function recycleChunk({ buffer, byteOffset, byteLength }: Uint8Array): void {
  if (
    byteOffset > 0 ||
    known.get(buffer) !== byteLength ||
    buffer.byteLength > MAX_SPARE_BYTES ||
    spares.includes(buffer as ArrayBuffer)
  )
    return
  if (spares.length === MAX_SPARES) spares.shift()
  spares.push(buffer as ArrayBuffer)
}
