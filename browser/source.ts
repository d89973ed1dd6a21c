import { wrongType } from '../lib/event/error.js'
import { showValue } from '../lib/event/message-text.js'

/** Where a trace comes from in a browser: a file that was chosen or dropped, the body of a response, or bytes. */
export type BrowserSource = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

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
  for await (const chunk of chunksOf(source, signal)) {
    if (!isBytes(chunk)) throw wrongType(`readTrace(): a chunk is not bytes: ${showValue(chunk)}`)
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      signal?.throwIfAborted()
      const slice = chunk.subarray(at, at + SLICE_BYTES)
      yield slice
      bytes += slice.length
      onProgress?.(bytes)
    }
  }
}

async function* chunksOf(source: BrowserSource, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  if (isBytes(source)) return yield source
  if (source instanceof ArrayBuffer) return yield new Uint8Array(source)
  const { next, close } = open(source)
  // One listener for all chunks: a race with the signal for each of them would hold memory until the end.
  let fail: (reason: unknown) => void = () => {}
  const abort = (): void => fail(signal?.reason)
  signal?.addEventListener('abort', abort)
  const read = () =>
    new Promise<Chunk>((resolve, reject) => {
      fail = reject
      signal?.throwIfAborted()
      next().then(resolve, (error) => {
        isOpen = false
        reject(error)
      })
    })
  let isOpen = true
  try {
    for (let chunk = await read(); chunk.done !== true; chunk = await read()) yield chunk.value
    isOpen = false
  } finally {
    signal?.removeEventListener('abort', abort)
    if (isOpen) await closeSource(close, signal)
  }
}

type Chunk = { readonly done?: false; readonly value: Uint8Array } | { readonly done: true }

/** How to read the next chunk of a source, and how to close it. */
interface Chunks {
  next(): Promise<Chunk>
  close(): Promise<unknown>
}

/** @throws TypeError if it is no source */
function open(source: Exclude<BrowserSource, Uint8Array | ArrayBuffer>): Chunks {
  if (!isSource(source)) throw wrongType(`readTrace(): not a Blob, bytes, or a stream of bytes: ${showValue(source)}`)
  if (!(source instanceof Blob) && !('getReader' in source)) {
    // An array of chunks will do, too, and iterators of users need not give promises.
    const iterable = source as AsyncIterable<Uint8Array> | Iterable<Uint8Array>
    const chunks = Symbol.asyncIterator in iterable ? iterable[Symbol.asyncIterator]() : iterable[Symbol.iterator]()
    return { next: async () => (await chunks.next()) as Chunk, close: async () => chunks.return?.() }
  }
  // Not every browser has streams that can be iterated.
  const reader = (source instanceof Blob ? source.stream() : source).getReader()
  return { next: () => reader.read() as Promise<Chunk>, close: () => reader.cancel() }
}

/** Not by `instanceof`: bytes may come from another frame or worker. */
function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === '[object Uint8Array]'
}

function isSource(source: unknown): boolean {
  if (typeof source !== 'object' || source === null) return false
  return source instanceof Blob || 'getReader' in source || Symbol.asyncIterator in source || Symbol.iterator in source
}

/** Closes a source. After an abort this is not waited for, because a source that is stalled may never answer. */
async function closeSource(close: Chunks['close'], signal: AbortSignal | undefined): Promise<void> {
  const end = close()
  if (signal?.aborted !== true) await end
  else end.catch(() => {})
}
