/** What `Peeked.whole` is. */
export type Rest = AsyncIterableIterator<Uint8Array> & { return(): Promise<IteratorResult<Uint8Array>> }

/** A source of chunks whose first bytes have been read, and which can still be read from the beginning. */
export interface Peeked {
  /** The first bytes: at least the requested number, unless the source is shorter. */
  readonly head: Uint8Array
  /** All of the source, `head` included. Its `return` closes the source, whether or not reading has begun. */
  readonly whole: Rest
  /** The error of the source after `head`, if it failed; `whole` fails with it too. */
  readonly failure: unknown
}

/**
 * Reads the first bytes of a source: a number of them, as many as suffice, or all of a shorter source.
 * @param isEnough called after each chunk
 */
export async function peek(
  source: AsyncIterable<Uint8Array>,
  isEnough: number | ((head: Uint8Array) => boolean),
): Promise<Peeked> {
  const chunks = source[Symbol.asyncIterator]()
  let head: Uint8Array = new Uint8Array(0)
  let failure: unknown
  try {
    while (typeof isEnough === 'number' ? head.length < isEnough : !isEnough(head)) {
      const chunk = await chunks.next()
      if (chunk.done === true) break
      head = head.length === 0 ? chunk.value : Buffer.concat([head, chunk.value])
    }
  } catch (error) {
    failure = error
  }
  let state: 'head' | 'rest' | 'closed' = 'head'
  const whole: Rest = {
    async next() {
      if (state === 'closed') return { done: true, value: undefined }
      if (state === 'head') {
        state = 'rest'
        if (head.length > 0) return { done: false, value: head }
      }
      if (failure !== undefined) throw failure
      return chunks.next()
    },
    async return() {
      if (state !== 'closed' && failure === undefined) await chunks.return?.()
      state = 'closed'
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
  return { head, whole, failure }
}
