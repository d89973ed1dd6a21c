import * as zlib from 'node:zlib'
import type { Transform } from 'node:stream'
import type { Decompress } from 'fzstd'
import { loadKernel, type KernelExports } from '../kernel/load.js'
import { ZlibSteps } from './zlib-steps.js'
import { MAX_BLOCK, MAX_WINDOW, type ZstdFrame } from './zstd-frames.js'
import { hasEndlessWeights } from './zstd-weights.js'

/** Inflates one frame. */
interface FrameInflater {
  /** Processes the frame's header, a block or its checksum, and gives the output. @throws its fault */
  push(bytes: Uint8Array, isLast: boolean): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  close(): void
}

/** Creates an inflater for a frame, after the one for the previous frame was closed. */
export type NewFrameInflater = (frame: ZstdFrame) => FrameInflater

/** The error for invalid data, with a text for messages. */
export class ZstdFault extends Error {}

/** The error for data that would take too much work, with a text for messages. */
export class ZstdLimit extends Error {}

/** Functions of node:zlib since Node 22.15, which the types of older versions lack. */
interface ZlibWithZstd {
  readonly createZstdDecompress?: (options: object) => Transform
  readonly zstdDecompressSync?: (bytes: Uint8Array, options: object) => Buffer
  readonly constants: { readonly ZSTD_d_windowLogMax: number }
}

const { createZstdDecompress, zstdDecompressSync, constants } = zlib as unknown as ZlibWithZstd
const parameters = () => ({ params: { [constants.ZSTD_d_windowLogMax]: Math.log2(MAX_WINDOW) } })

/** Inflates with node:zlib; undefined if it does not support zstd. */
export const nodeInflater: NewFrameInflater | undefined =
  createZstdDecompress === undefined || zstdDecompressSync === undefined
    ? undefined
    : () => new NodeFrame(createZstdDecompress, zstdDecompressSync)

/**
 * A frame for node:zlib. A frame of one block is inflated synchronously, because a stream for each of very many small
 * ones would take most of the time.
 */
class NodeFrame implements FrameInflater {
  /** Parts that have not been written yet: the header, the only block so far, and the checksum. */
  private held: Uint8Array[] = []
  private stream: Transform | undefined
  private steps: ZlibSteps | undefined

  constructor(
    private readonly create: NonNullable<ZlibWithZstd['createZstdDecompress']>,
    private readonly inflateAll: NonNullable<ZlibWithZstd['zstdDecompressSync']>,
  ) {}

  async *push(bytes: Uint8Array, isLast: boolean): AsyncGenerator<Uint8Array> {
    const { held } = this
    held.push(bytes)
    const isFirst = held.length === 1
    if (this.stream === undefined && !isLast && (isFirst || isLastBlock(bytes))) return
    this.held = []
    const content = isLast && this.stream === undefined ? this.whole(held) : undefined
    if (content !== undefined) yield content
    else for (const part of held) if (part.length > 0) yield* this.write(part)
  }

  /** The content of a frame, or undefined if it is faulty; valid content before the fault is delivered first. */
  private whole(parts: readonly Uint8Array[]): Uint8Array | undefined {
    try {
      return this.inflateAll(Buffer.concat(parts), { ...parameters(), maxOutputLength: MAX_BLOCK })
    } catch {
      return undefined
    }
  }

  private async *write(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    const stream = (this.stream ??= this.create({ chunkSize: 65_536, ...parameters() }))
    const steps = (this.steps ??= new ZlibSteps(stream))
    try {
      yield* steps.run((done) => stream.write(bytes, done))
    } catch (error) {
      const isChecksum = (error as NodeJS.ErrnoException).code === 'ZSTD_error_checksum_wrong'
      throw new ZstdFault(isChecksum ? CHECKSUM : CORRUPT, { cause: error })
    }
  }

  close(): void {
    this.stream?.destroy()
  }
}

const CORRUPT = 'the zstd data are corrupt'
const CHECKSUM = 'the checksum of a zstd frame is wrong'

/**
 * fzstd allocates a window for every frame and moves all of it for every block. This is the maximum number of such
 * bytes in a stream for each byte of output, after an initial allowance.
 */
const MAX_MOVED = 4096
const MOVED_ALLOWANCE = 2 ** 30

/** The offsets of descriptor and window in the header of a frame, and the window's value for `MAX_BLOCK`. */
const [DESCRIPTOR_AT, WINDOW_AT, MAX_BLOCK_WINDOW] = [4, 5, 0x38]

/** The module fzstd. */
export interface Fzstd {
  Decompress: typeof Decompress
}

/** Inflates the frames of one stream with fzstd, which does not verify checksums, so the content is checked here. */
export function fzstdInflater({ Decompress: Inflate }: Fzstd): NewFrameInflater {
  let kernel: Xxh64 | undefined
  let length = 0
  let moved = 0
  const check = (): void => {
    if (moved > MOVED_ALLOWANCE + MAX_MOVED * length)
      throw new ZstdLimit('the zstd frames have very many small blocks: decompress them first (zstd -dc FILE | ...)')
  }
  return ({ header, window, checksumBytes }) => {
    const hash = checksumBytes === 0 ? undefined : (kernel ??= new Xxh64())
    hash?.reset()
    let made: Uint8Array[] = []
    let inflate: Decompress | undefined
    const begin = (block: Uint8Array): Decompress => {
      // No block has more content, so a frame of one block needs no larger window, regardless of its header.
      const isSmall = isLastBlock(block) && hasWindow(header) && window > MAX_BLOCK
      const needed = isSmall ? MAX_BLOCK : window
      moved += needed
      check()
      const begun = new Inflate((chunk, isEnd) => {
        if (!isEnd) moved += needed
        length += chunk.length
        if (chunk.length > 0) made.push(chunk)
      })
      begun.push(isSmall ? header.with(WINDOW_AT, MAX_BLOCK_WINDOW) : header)
      return begun
    }
    return {
      *push(bytes, isLast) {
        // A frame begins with its first block with content; a frame without content is skipped.
        if (inflate !== undefined || !(bytes === header || isLast || isEmptyBlock(bytes))) {
          try {
            if (bytes !== header && hasEndlessWeights(bytes)) throw new ZstdFault(CORRUPT)
            inflate ??= begin(bytes)
            inflate.push(bytes, isLast)
          } catch (error) {
            throw error instanceof ZstdLimit ? error : new ZstdFault(CORRUPT, { cause: error })
          } finally {
            for (const chunk of made) hash?.update(chunk)
            yield* made
            made = []
          }
          check()
        }
        if (isLast && hash?.is(bytes) === false) throw new ZstdFault(CHECKSUM)
      },
      close: () => {},
    }
  }
}

/** Whether this is the last block of the frame. */
function isLastBlock(bytes: Uint8Array): boolean {
  return ((bytes[0] as number) & 1) === 1
}

/** Whether the header of a frame has a window, instead of using the size of the content. */
function hasWindow(header: Uint8Array): boolean {
  return ((header[DESCRIPTOR_AT] as number) & 0x20) === 0
}

/** Whether this is a block without content, raw or with one repeated byte. */
function isEmptyBlock(bytes: Uint8Array): boolean {
  const word = (bytes[0] as number) | ((bytes[1] as number) << 8) | ((bytes[2] as number) << 16)
  return word >> 3 === 0
}

/** The exports of `kernel/xxh64.ts`. */
interface Xxh64Kernel extends KernelExports {
  readonly CAPACITY: { readonly value: number }
  reset(): void
  update(length: number): void
  /** The low word of the hash. */
  digest(): number
}

/** The hash of a frame's content (RFC 8878, section 3.1.1). */
class Xxh64 {
  private readonly kernel = loadKernel<Xxh64Kernel>('xxh64')
  private readonly input = new Uint8Array(this.kernel.memory.buffer)

  reset(): void {
    this.kernel.reset()
  }

  update(bytes: Uint8Array): void {
    const { INPUT, CAPACITY } = this.kernel
    for (let at = 0; at < bytes.length; at += CAPACITY.value) {
      const part = bytes.subarray(at, at + CAPACITY.value)
      this.input.set(part, INPUT?.value)
      this.kernel.update(part.length)
    }
  }

  /** Whether this is the checksum of the frame that ends here. */
  is(checksum: Uint8Array): boolean {
    return Buffer.from(checksum).readUInt32LE() === this.kernel.digest() >>> 0
  }
}
