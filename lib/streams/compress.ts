import { checkOptions } from '../event/options.js'
import { byteStream } from './generator.js'
import type { ByteStream } from './types.js'

/**
 * Deflates to gzip. When the stream before it fails, what came before is still written, but the member is left without
 * its end: what is inside may be a format that cannot tell by itself that it was cut.
 */
export function gzip(options: { level?: number } = {}): ByteStream<'bytes'> {
  checkOptions(options, { level: true }, 'gzip')
  return byteStream('gzip()', async function* (source) {
    const { constants, createGzip } = await import('node:zlib')
    const deflate = createGzip({ level: options.level ?? constants.Z_DEFAULT_COMPRESSION })
    let wake: () => void = () => {}
    deflate.on('readable', () => wake())
    const step = async function* (start: (done: () => void) => void): AsyncGenerator<Buffer> {
      let done = false
      start(() => ((done = true), wake()))
      for (;;) {
        const out = deflate.read() as Buffer | null
        if (out !== null) yield out
        else if (done) return
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    }
    try {
      for await (const chunk of source) yield* step((done) => deflate.write(chunk, done))
      yield* step((done) => {
        deflate.on('end', done)
        deflate.end()
      })
    } catch (error) {
      yield* step((done) => deflate.flush(constants.Z_SYNC_FLUSH, done))
      throw error
    } finally {
      deflate.destroy()
    }
  })
}
