import * as zlib from 'node:zlib'
import type { Transform } from 'node:stream'
import { Xxh64 } from './xxh64.js'
import { ZlibSteps } from './zlib-steps.js'
import { ZstdBlocks, ZstdFault } from './zstd-blocks.js'
import { MAX_BLOCK, MAX_WINDOW, type ZstdFrame } from './zstd-frames.js'

/** Inflates one frame. */
interface FrameInflater {
  /** Processes the frame's header, a block or its checksum, and gives the output. @throws its fault */
  push(bytes: Uint8Array, isLast: boolean): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  close(): void
}

/** Creates an inflater for a frame, after the one for the previous frame was closed. */
export type NewFrameInflater = (frame: ZstdFrame) => FrameInflater

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
      throw new ZstdFault(isChecksum ? CHECKSUM : undefined, error)
    }
  }

  close(): void {
    this.stream?.destroy()
  }
}

const CHECKSUM = 'the checksum of a zstd frame is wrong'

/** Inflates the frames of one stream with a kernel, where node:zlib does not support zstd. */
export function kernelInflater(): NewFrameInflater {
  let blocks: ZstdBlocks | undefined
  let hash: Xxh64 | undefined
  return ({ header, window, checksumBytes }) => {
    blocks ??= new ZstdBlocks()
    blocks.begin(window)
    const checksum = checksumBytes === 0 ? undefined : (hash ??= new Xxh64())
    checksum?.reset()
    return {
      *push(bytes, isLast) {
        if (isLast) {
          if (checksum?.is(bytes) === false) throw new ZstdFault(CHECKSUM)
        } else if (bytes !== header) {
          const content = (blocks as ZstdBlocks).decode(bytes)
          checksum?.update(content)
          if (content.length > 0) yield content.slice()
        }
      },
      close: () => {},
    }
  }
}

/** Whether this is the last block of the frame. */
function isLastBlock(bytes: Uint8Array): boolean {
  return (bytes[0] & 1) === 1
}
