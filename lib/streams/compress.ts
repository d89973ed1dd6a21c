import { createRequire } from 'node:module'
import type zlib from 'node:zlib'
import { checkOptions } from '../event/options.js'
import { byteStream } from './generator.js'
import type { ByteStream } from './types.js'

/** How output is compressed. */
export type Compression = 'gzip' | 'zstd'

/** What node:zlib has from Node 22.15 on, which the types of older versions lack. */
interface Zstd {
  readonly createZstdCompress?: (options: object) => zlib.Gzip
  readonly zstdCompressSync?: (bytes: Uint8Array) => Buffer
  readonly constants: { readonly ZSTD_c_compressionLevel: number; readonly ZSTD_e_flush: number }
}

/** node:zlib, which is loaded when something is compressed. */
function loadZlib(): typeof zlib & Zstd {
  return createRequire(import.meta.url)('node:zlib') as typeof zlib & Zstd
}

/** Why this process cannot write zstd; undefined where it can. */
export function zstdObstacle(): string | undefined {
  if (loadZlib().createZstdCompress !== undefined) return undefined
  return `writing zstd needs Node 22.15 or newer; this is ${process.version}`
}

/**
 * Compresses to gzip. If the stream before it fails, everything before the fault is still written, but the gzip member
 * stays incomplete, because the format inside may have no end mark.
 */
export function gzip(options: { level?: number } = {}): ByteStream<'bytes'> {
  checkOptions(options, { level: true }, 'gzip')
  return deflating('gzip()', () => startGzip(options.level))
}

/**
 * Compresses to gzip what is whole although the stream before it fails, such as the profile of a truncated trace: the
 * gzip member is ended in any case.
 */
export function wholeGzip(): ByteStream<'bytes'> {
  return deflating('gzip()', startGzip, true)
}

/**
 * Compresses with zstd, at level 3 unless `level` says otherwise. A failure of the stream before it leaves the frame
 * without its end, as in `gzip`.
 * @throws RangeError where Node is older than 22.15
 */
export function zstd(options: { level?: number } = {}): ByteStream<'bytes'> {
  checkOptions(options, { level: true }, 'zstd')
  const { constants, createZstdCompress } = loadZlib()
  if (createZstdCompress === undefined) throw new RangeError(zstdObstacle())
  const params = options.level === undefined ? {} : { [constants.ZSTD_c_compressionLevel]: options.level }
  return deflating('zstd()', () => ({ deflate: createZstdCompress({ params }), flush: constants.ZSTD_e_flush }))
}

/** The stream for a compression. @throws RangeError where this process cannot write it */
export function compressor(compression: Compression): ByteStream<'bytes'> {
  return compression === 'gzip' ? gzip() : zstd()
}

/** Bytes as a gzip member or a zstd frame of their own. @throws RangeError where this process cannot write it */
export function compressed(bytes: Uint8Array, compression: Compression): Buffer {
  const { gzipSync, zstdCompressSync } = loadZlib()
  if (compression === 'gzip') return gzipSync(bytes)
  if (zstdCompressSync === undefined) throw new RangeError(zstdObstacle())
  return zstdCompressSync(bytes)
}

/** A stream of node:zlib, and how it is flushed: it delivers what it holds back, without an end. */
interface Deflating {
  readonly deflate: zlib.Gzip
  readonly flush: number
}

function startGzip(level?: number): Deflating {
  const { constants, createGzip } = loadZlib()
  const deflate = createGzip({ level: level ?? constants.Z_DEFAULT_COMPRESSION })
  return { deflate, flush: constants.Z_SYNC_FLUSH }
}

/** @param isAlwaysEnded also if the stream before it fails */
function deflating(name: string, start: () => Deflating, isAlwaysEnded = false): ByteStream<'bytes'> {
  return byteStream(name, async function* (source) {
    const { ZlibSteps } = await import('../compression/zlib-steps.js')
    const { deflate, flush } = start()
    const steps = new ZlibSteps(deflate)
    const end = () =>
      steps.run((done) => {
        deflate.on('end', done)
        deflate.end()
      })
    try {
      for await (const chunk of source) yield* steps.run((done) => deflate.write(chunk, done))
      yield* end()
    } catch (error) {
      if (isAlwaysEnded) yield* end()
      else yield* steps.run((done) => deflate.flush(flush, done))
      throw error
    } finally {
      deflate.destroy()
    }
  })
}
