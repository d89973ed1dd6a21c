/** Where a trace comes from in a browser: a file that was chosen or dropped, the body of a response, or bytes. */
export type BrowserSource = Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** Decoders are fed pieces of at most this many bytes: see "Stages" in docs/architecture.md. */
const SLICE_BYTES = 65_536

/**
 * The bytes of a source, in slices that decoders take.
 * @param options ends reading, with the reason of the signal; is called with the number of bytes so far
 */
export async function* slicesOf(
  source: BrowserSource,
  { signal, onProgress }: { readonly signal?: AbortSignal; readonly onProgress?: (bytes: number) => void } = {},
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of chunksOf(source)) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      signal?.throwIfAborted()
      const slice = chunk.subarray(at, at + SLICE_BYTES)
      yield slice
      bytes += slice.length
      onProgress?.(bytes)
    }
  }
}

async function* chunksOf(source: BrowserSource): AsyncGenerator<Uint8Array> {
  if (source instanceof Uint8Array) return yield source
  if (!(source instanceof Blob) && !('getReader' in source)) return yield* source
  // Not every browser has streams that can be iterated.
  const reader = (source instanceof Blob ? source.stream() : source).getReader()
  let isOpen = true
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
    isOpen = false
  } finally {
    if (isOpen) await reader.cancel()
  }
}
