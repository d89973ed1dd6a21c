import { Readable } from 'node:stream'
import { failing } from './failure.js'
import { QUEUED } from './stage.js'
import { turns } from './turns.js'

/**
 * A Readable of the results of an async generator, whose errors come after its results.
 * @param generate is called once, with the stream, on which it may emit
 * @param release is called when the stream is destroyed; it must end whatever the generator waits for. The stream is
 *   closed when the promise that it may return is resolved
 */
export function sourceStream(
  generate: (stream: Readable) => AsyncGenerator<object>,
  release: () => void | Promise<void> = () => {},
): Readable {
  const stream = new Readable({
    objectMode: true,
    highWaterMark: QUEUED,
    read() {
      const next = turn()?.then(() => results.next()) ?? results.next()
      next.then(
        ({ done, value }) => this.push(done === true ? null : value),
        (error: Error) => {
          if (!this.destroyed) fail(error)
        },
      )
    },
    destroy(error, done) {
      const released = release()
      if (released === undefined) done(error)
      else released.then(() => done(error), done)
    },
  })
  const fail = failing(stream)
  const turn = turns()
  const results = generate(stream)
  return stream
}
