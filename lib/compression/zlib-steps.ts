import type { Transform } from 'node:stream'

/** A stream of node:zlib that is fed one chunk at a time, and gives all its output before it takes the next chunk. */
export class ZlibSteps {
  private wake: () => void = () => {}
  private failure: Error | undefined

  constructor(private readonly stream: Transform) {
    stream.on('readable', () => this.wake())
    stream.on('error', (error) => this.fail(error))
  }

  /**
   * Runs one step, and gives its output.
   * @param start begins the step, and makes the stream call `done` when it has taken all input
   * @throws the stream's error, after its output
   */
  async *run(start: (done: (error?: Error | null) => void) => void): AsyncGenerator<Buffer> {
    let isDone = false
    start((error) => {
      isDone = true
      this.fail(error ?? undefined)
    })
    for (;;) {
      const out = this.stream.read() as Buffer | null
      if (out !== null) yield out
      else if (this.failure !== undefined) throw this.failure
      else if (isDone) return
      else await new Promise<void>((resolve) => (this.wake = resolve))
    }
  }

  private fail(error: Error | undefined): void {
    this.failure ??= error
    this.wake()
  }
}
