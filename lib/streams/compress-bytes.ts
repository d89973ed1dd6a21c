import type zlib from 'node:zlib'

/** The compression of output. */
export type Compression = 'gzip' | 'zstd'

/** The functions of node:zlib from Node 22.15 on, which the types of older versions lack. */
interface Zstd {
  readonly createZstdCompress?: (options: object) => zlib.Gzip
  readonly zstdCompressSync?: (bytes: Uint8Array) => Buffer
  readonly constants: { readonly ZSTD_c_compressionLevel: number; readonly ZSTD_e_flush: number }
}

/** node:zlib, which is loaded when something is compressed. */
function loadZlib(): typeof zlib & Zstd {
  return process.getBuiltinModule('node:zlib') as typeof zlib & Zstd
}

/** The reason why this process cannot write zstd; undefined if it can. */
export function zstdObstacle(): string | undefined {
  if (loadZlib().createZstdCompress !== undefined) return undefined
  return `writing zstd needs Node 22.15 or newer; this is ${process.version}`
}

/**
 * Compresses bytes. If their source fails, everything before the fault is still compressed, but the gzip member or zstd
 * frame stays incomplete, because the format inside may have no end mark.
 * @param isAlwaysEnded whether it is also completed if the source fails
 * @throws RangeError where this process cannot write it
 */
export function compressBytes(
  source: AsyncIterable<Uint8Array>,
  compression: Compression,
  { level, isAlwaysEnded = false }: { level?: number | undefined; isAlwaysEnded?: boolean } = {},
): AsyncGenerator<Buffer> {
  return deflated(source, compression === 'gzip' ? startGzip(level) : startZstd(level), isAlwaysEnded)
}

/** Bytes as a separate gzip member or zstd frame. @throws RangeError where this process cannot write it */
export function compressed(bytes: Uint8Array, compression: Compression): Buffer {
  const { gzipSync, zstdCompressSync } = loadZlib()
  if (compression === 'gzip') return gzipSync(bytes)
  if (zstdCompressSync === undefined) throw new RangeError(zstdObstacle())
  return zstdCompressSync(bytes)
}

/** A stream of node:zlib, and the way to flush it: it delivers the output that it holds back, without ending. */
interface Deflating {
  readonly deflate: zlib.Gzip
  readonly flush: number
}

function startGzip(level?: number): Deflating {
  const { constants, createGzip } = loadZlib()
  const deflate = createGzip({ level: level ?? constants.Z_DEFAULT_COMPRESSION })
  return { deflate, flush: constants.Z_SYNC_FLUSH }
}

/** @throws RangeError where Node is older than 22.15 */
function startZstd(level?: number): Deflating {
  const { constants, createZstdCompress } = loadZlib()
  if (createZstdCompress === undefined) throw new RangeError(zstdObstacle())
  const params = level === undefined ? {} : { [constants.ZSTD_c_compressionLevel]: level }
  return { deflate: createZstdCompress({ params }), flush: constants.ZSTD_e_flush }
}

async function* deflated(
  source: AsyncIterable<Uint8Array>,
  { deflate, flush }: Deflating,
  isAlwaysEnded: boolean,
): AsyncGenerator<Buffer> {
  const { ZlibSteps } = await import('../compression/zlib-steps.js')
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
}
