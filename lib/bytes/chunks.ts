/** Memory that chunks are made in, and how long the chunk is that was given out of it last. */
const known = new WeakMap<ArrayBufferLike, number>()

/** Memory of chunks that were recycled; that which was used last is last. */
const spares: ArrayBuffer[] = []

/** So much memory is kept at most: more than the chunks that are under way in one pipeline. */
const MAX_SPARES = 8
const MAX_SPARE_BYTES = 1 << 20

/** For fewer bytes new memory costs no more than finding some. */
const LEAST = 4096

/**
 * A chunk of so many bytes, with whatever was in that memory before: that of a chunk that was recycled, if one fits.
 */
export function newChunk(length: number): Uint8Array<ArrayBuffer> {
  if (length < LEAST) return new Uint8Array(length)
  for (let s = spares.length - 1; s >= 0; s--) {
    const spare = spares[s] as ArrayBuffer
    // Not much larger memory: whoever keeps the chunk would keep all of it.
    if (spare.byteLength < length || spare.byteLength > 2 * length + LEAST) continue
    spares.splice(s, 1)
    known.set(spare, length)
    return new Uint8Array(spare, 0, length)
  }
  const { buffer } = Buffer.allocUnsafeSlow(Math.ceil(length / LEAST) * LEAST)
  known.set(buffer, length)
  return new Uint8Array(buffer, 0, length)
}

/** The first bytes of a chunk as a chunk: the rest of it is of no use to anybody. */
export function cutChunk(chunk: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (known.has(chunk.buffer)) known.set(chunk.buffer, length)
  return chunk.subarray(0, length)
}

/** A copy of bytes as a chunk. */
export function chunkOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const chunk = newChunk(bytes.length)
  chunk.set(bytes)
  return chunk
}

/**
 * Nobody looks at a chunk any more: later ones may have its memory. For bytes that are none of `newChunk`, or only a
 * part of a chunk, it does nothing.
 */
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
