import { limit, malformed, type TraceError } from '../event/error.js'
import { Compressed } from './compressed.js'
import { nextBlock, nextFrame, type ZstdFrame } from './zstd-frames.js'
import { ZstdFault } from './zstd-blocks.js'
import type { NewFrameInflater } from './zstd-inflaters.js'

/**
 * Inflates zstd: any number of frames; skippable frames are skipped. Frames and blocks are delimited here and not by
 * the inflater, so that a truncated frame and bytes after the last one are errors with any inflater. The content of a
 * block is delivered before the fault of the next one is thrown.
 *
 * @param source the compressed bytes, from the first byte of the first frame
 * @throws TraceError with the offset in the compressed stream: a frame that is truncated or corrupt, or needs too large
 *   a window, or bytes after the last frame that are not zstd
 */
export async function* unzstd(
  source: AsyncIterable<Uint8Array>,
  newInflater: NewFrameInflater,
): AsyncGenerator<Uint8Array, void, void> {
  const input = new Compressed(source, 'zstd', 'frame')
  try {
    for (let frame = await nextFrame(input); frame !== undefined; frame = await nextFrame(input))
      yield* inflateFrame(input, frame, newInflater)
  } finally {
    await input.close()
  }
}

async function* inflateFrame(
  input: Compressed,
  frame: ZstdFrame,
  newInflater: NewFrameInflater,
): AsyncGenerator<Uint8Array> {
  const inflater = newInflater(frame)
  let length = 0
  const push = async function* (bytes: Uint8Array, isLast: boolean, offset: number): AsyncGenerator<Uint8Array> {
    try {
      for await (const out of inflater.push(bytes, isLast)) {
        length += out.length
        if (length > (frame.content ?? length)) throw new ZstdFault('a zstd frame holds more than its header says')
        yield out
      }
    } catch (error) {
      throw inStream(error, offset)
    }
  }
  try {
    yield* push(frame.header, false, input.offset)
    for (let isLast = false; !isLast;) {
      const { offset } = input
      const block = await nextBlock(input)
      ;({ isLast } = block)
      yield* push(block.bytes, false, offset)
    }
    const { offset } = input
    yield* push(await input.take(frame.checksumBytes), true, offset)
    if (length !== (frame.content ?? length))
      throw malformed('a zstd frame holds less than its header says', { format: 'zstd', offset })
  } finally {
    inflater.close()
  }
}

/** An inflater's error with its place. */
function inStream(error: unknown, offset: number): TraceError | unknown {
  const at = { format: 'zstd', offset }
  if (error instanceof ZstdFault) return malformed(error.message, at)
  return error instanceof RangeError ? limit(error.message, at) : error
}
