import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { basename } from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** A program that filters a trace, from its standard input to its standard output. */
export class Filter {
  /** The reason why it did not deliver the whole trace, if it did not. Resolves when it has ended. */
  readonly fault: Promise<string | undefined>
  private readonly child: ChildProcessByStdio<Writable, Readable, null>
  /** Whether it was given the whole trace. */
  private isFed = false
  /** Whether it takes no more input. */
  private isGone = false
  /** Called when it takes more input, or will never do so. */
  private wake: () => void = () => {}

  /** @param words the program and its arguments */
  constructor([file, ...args]: readonly [string, ...string[]]) {
    // Its standard error has only its own figures. It must not receive the signals of a terminal.
    this.child = spawn(file, args, { stdio: ['pipe', 'pipe', 'ignore'], detached: true })
    const name = basename(file)
    this.fault = new Promise((resolve) => {
      this.child.once('error', (error) => resolve(`${name} cannot be run: ${error.message}`))
      this.child.once('exit', (status, signal) => {
        if (signal !== null) resolve(`${name} was ended by ${signal}`)
        else if (status !== 0) resolve(`${name} ended with status ${status}`)
        else resolve(this.isFed ? undefined : `${name} ended before the program`)
      })
    })
    const { stdin } = this.child
    // The fault has the reason why it cannot be written to.
    stdin.on('error', () => {})
    stdin.on('drain', () => this.wake())
    stdin.on('close', () => {
      this.isGone = true
      this.wake()
    })
  }

  /** Its output for some bytes. They are read to their end in any case, because their writer would wait otherwise. */
  async *through(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const fed = this.feed(bytes)
    // It is awaited below, unless reading fails.
    fed.catch(() => {})
    for await (const chunk of this.child.stdout as AsyncIterable<Buffer>) yield chunk
    await fed
  }

  /** Stops it. */
  close(): void {
    this.child.stdin.destroy()
    this.child.stdout.destroy()
  }

  private async feed(bytes: AsyncIterable<Buffer>): Promise<void> {
    const { stdin } = this.child
    for await (const chunk of bytes) {
      if (this.isGone || stdin.write(chunk)) continue
      await new Promise<void>((resolve) => (this.wake = resolve))
    }
    this.isFed = !this.isGone
    stdin.end()
  }
}
