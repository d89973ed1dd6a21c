import * as Layout from '../kernel/layouts/zstd.js'
import { loadKernel, type Global, type KernelExports } from '../kernel/load.js'

/** The exports of `kernel/zstd.ts`. */
interface ZstdKernel extends KernelExports {
  readonly INPUT: Global
  /** Where the content of the last block begins. */
  readonly content: Global
  begin(window: number): void
  /** The length of the content, or a number below 0. */
  decode(type: number, size: number): number
}

const CORRUPT = 'the zstd data are corrupt'
const HEADER_BYTES = 3

/** The error for invalid data, with a text for messages. */
export class ZstdFault extends Error {
  /** @param cause of an inflater that has one */
  constructor(message = CORRUPT, cause?: unknown) {
    super(message, { cause })
  }
}

/** Decodes the blocks of frames, one after the other (RFC 8878, section 3.1.1.2). */
export class ZstdBlocks {
  private readonly kernel = loadKernel<ZstdKernel>('zstd')

  /** Begins a frame. @param window its size in bytes, at most `MAX_WINDOW` */
  begin(window: number): void {
    this.kernel.begin(window)
  }

  /**
   * The content of a block, until the next one is decoded.
   * @param block with its header; at most `MAX_BLOCK` bytes follow that
   * @throws ZstdFault for invalid data; RangeError when there is no memory for the window
   */
  decode(block: Uint8Array): Uint8Array {
    const { memory, INPUT, decode, content } = this.kernel
    const word = block[0] | (block[1] << 8) | (block[2] << 16)
    new Uint8Array(memory.buffer, INPUT.value).set(block.subarray(HEADER_BYTES))
    const length = decode((word >> 1) & 3, word >> 3)
    if (length === Layout.CORRUPT) throw new ZstdFault()
    if (length < 0) throw new RangeError('there is not enough memory for the window of a zstd frame')
    return new Uint8Array(memory.buffer, content.value, length)
  }
}
