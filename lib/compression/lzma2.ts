import { limit } from '../event/error.js'
import { CHUNK } from '../kernel/layouts/lzma2.js'
import { loadKernel, releaseKernel, type Global, type KernelExports } from '../kernel/load.js'
import type { Compressed } from './compressed.js'
import { fault } from './xz-fields.js'

/** The maximum number of bytes decoded at a time. */
const PIECE = 65_536

/** Control bytes of chunks: the end, uncompressed ones with or without a new dictionary, and compressed ones. */
const [END, COPY_RESET, COPY, COMPRESSED] = [0, 1, 2, 0x80]
/** From these control bytes on, a compressed chunk resets the state, brings properties, and resets the dictionary. */
const [RESETS_STATE, BRINGS_PROPERTIES, RESETS_DICTIONARY] = [0xa0, 0xc0, 0xe0]

/** The exports of `kernel/lzma2.ts`. */
interface Lzma2Kernel extends KernelExports {
  readonly INPUT: Global
  readonly isCorrupt: Global
  readonly crc64: { readonly value: bigint }
  makeDictionary(bytes: number): number
  resetDictionary(): void
  resetState(): void
  setProperties(byte: number): number
  begin(bytes: number): void
  nextPlace(): number
  copy(from: number, bytes: number): number
  decode(wanted: number): number
  isFinished(): number
  resetCrc64(): void
  updateCrc64(from: number, bytes: number): void
}

/** Decodes LZMA2: the data of one block after the other. */
export class Lzma2 {
  /** The decoded size of the last block in bytes. */
  length = 0
  private readonly kernel = loadKernel<Lzma2Kernel>('lzma2')
  private dictionary = 0
  private needsDictionary = true
  private needsProperties = true
  private countsCrc64 = false

  /** The CRC-64 of the last block. */
  get crc64(): bigint {
    return BigInt.asUintN(64, this.kernel.crc64.value)
  }

  /**
   * The content of a block, up to the end of its data.
   * @param dictionary the size of its dictionary in bytes
   * @param countsCrc64 computes `crc64`
   * @throws TraceError for truncated or corrupt data, after the content before the fault
   */
  async *block(input: Compressed, dictionary: number, countsCrc64: boolean): AsyncGenerator<Uint8Array> {
    const { kernel } = this
    this.countsCrc64 = countsCrc64
    this.dictionary = kernel.makeDictionary(dictionary)
    if (this.dictionary === 0)
      throw limit('there is not enough memory for the dictionary', { format: 'xz', offset: input.offset })
    this.needsDictionary = this.needsProperties = true
    this.length = 0
    kernel.resetCrc64()
    for (;;) {
      const { offset } = input
      const control = (await input.take(1))[0]
      if (control === END) return
      if (control > COPY && control < COMPRESSED) throw fault('an LZMA2 chunk is of no known type', offset)
      if (control === COPY_RESET || control >= RESETS_DICTIONARY) this.resetDictionary()
      else if (this.needsDictionary) throw fault('the first LZMA2 chunk has no dictionary', offset)
      const sizes = await input.take(2)
      const low = sizes[0] * 256 + sizes[1] + 1
      if (control < COMPRESSED) yield* this.copied(await input.take(low))
      else yield* this.decoded(input, control, ((control & 0x1f) << 16) + low, offset)
    }
  }

  private resetDictionary(): void {
    this.kernel.resetDictionary()
    this.needsDictionary = false
    this.needsProperties = true
  }

  private *copied(bytes: Uint8Array): Generator<Uint8Array> {
    const { kernel } = this
    this.load(bytes)
    for (let at = 0; at < bytes.length;) {
      const place = kernel.nextPlace()
      const n = kernel.copy(at, bytes.length - at)
      at += n
      yield this.piece(place, n)
    }
  }

  private async *decoded(
    input: Compressed,
    control: number,
    length: number,
    offset: number,
  ): AsyncGenerator<Uint8Array> {
    const { kernel } = this
    const sizes = await input.take(2)
    const compressed = sizes[0] * 256 + sizes[1] + 1
    if (control >= BRINGS_PROPERTIES) {
      const byte = (await input.take(1))[0]
      if (kernel.setProperties(byte) === 0) throw fault('an LZMA2 chunk has no known properties', offset)
      this.needsProperties = false
    } else if (this.needsProperties) throw fault('the first LZMA2 chunk has no properties', offset)
    if (control >= RESETS_STATE) kernel.resetState()
    this.load(await input.take(compressed))
    if (compressed < 5) throw fault('the LZMA2 data are corrupt', offset)
    kernel.begin(compressed)
    // Only the end of a chunk shows whether it is valid. The output of corrupt data must not reach a decoder, whose
    // error would hide this one. A chunk has at most 2 MiB.
    const pieces: Uint8Array[] = []
    for (let left = length; left > 0;) {
      const place = kernel.nextPlace()
      const n = kernel.decode(Math.min(left, PIECE))
      left -= n
      if (n > 0) pieces.push(this.piece(place, n))
      if (kernel.isCorrupt.value !== 0) throw fault('the LZMA2 data are corrupt', offset)
    }
    if (kernel.isFinished() === 0) throw fault('the LZMA2 data are corrupt', offset)
    yield* pieces
  }

  private load(bytes: Uint8Array): void {
    new Uint8Array(this.kernel.memory.buffer, this.kernel.INPUT.value, CHUNK).set(bytes)
  }

  /** Bytes of the dictionary, copied. */
  private piece(place: number, length: number): Uint8Array {
    const { kernel, dictionary } = this
    this.length += length
    if (this.countsCrc64) kernel.updateCrc64(dictionary + place, length)
    return new Uint8Array(kernel.memory.buffer, dictionary + place, length).slice()
  }

  /** Ends the use of the decoder. */
  dispose(): void {
    releaseKernel(this.kernel)
  }
}
