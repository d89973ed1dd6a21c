import { closeSync, fstatSync, statSync, unlinkSync, write } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { closed } from '../closed.js'
import { DescriptorSource } from './descriptor-source.js'
import { openInput } from './stdio.js'
import { inTemporary } from './temporary-error.js'
import { openTemporary, type TemporaryFile } from './temporary-file.js'

const CHUNK_BYTES = 262_144
const writeTo = promisify(write)

/**
 * An input that is read twice: a file directly, anything else, such as a pipe, as a copy in a temporary file. The
 * copy's space is freed when it is closed, however the process ends.
 */
export class TwoPasses {
  private copy: TemporaryFile | undefined
  private input: Readable | undefined
  private readonly passes: Readable[] = []
  /** A write to the copy that may be under way. */
  private pending: Promise<unknown> = Promise.resolve()
  private closing: Promise<void> | undefined

  /**
   * @param path a file, or `-` for standard input
   * @param folder the folder for a copy
   */
  constructor(
    private readonly path: string,
    private readonly folder = tmpdir(),
  ) {}

  /** The number of bytes read: the mean of both passes of a file, or the bytes copied. */
  get bytesRead(): number {
    const of = (stream: Readable | undefined) => (stream as { bytesRead?: number } | undefined)?.bytesRead ?? 0
    if (this.input !== undefined) return of(this.input)
    return Math.floor(this.passes.reduce((sum, pass) => sum + of(pass), 0) / 2)
  }

  /**
   * Prepares the first pass: copies an input that can be read only once.
   * @throws the error of reading, or TemporaryFileError
   */
  async prepare(): Promise<void> {
    // A directory fails when it is opened. Standard input may begin anywhere in a file.
    const stats = this.path === '-' ? fstatSync(0) : statSync(this.path)
    if (this.path !== '-' && (stats.isFile() || stats.isDirectory())) return
    this.checkOpen()
    this.input = openInput(this.path, CHUNK_BYTES)
    this.copy = openTemporary(this.folder, 2)
    const [descriptor] = this.copy.descriptors
    for await (const chunk of this.input as AsyncIterable<Uint8Array>) {
      for (let at = 0; at < chunk.length;) {
        this.checkOpen()
        const from = at
        const writing = inTemporary(this.folder, () => writeTo(descriptor, chunk, from, chunk.length - from))
        this.pending = writing
        at += (await writing).bytesWritten
      }
    }
  }

  /** Opens the input for the next pass. */
  open(): Readable {
    this.checkOpen()
    const descriptor = this.copy?.descriptors[1 + this.passes.length]
    const pass = descriptor === undefined ? openInput(this.path) : new DescriptorSource(descriptor, CHUNK_BYTES)
    this.passes.push(pass)
    return pass
  }

  /** Closes everything. May be called at any time, and repeatedly; reading then fails. */
  close(): Promise<void> {
    return (this.closing ??= this.closeAll())
  }

  private async closeAll(): Promise<void> {
    const streams = this.input === undefined ? this.passes : [this.input, ...this.passes]
    for (const stream of streams) stream.destroy()
    await this.pending.catch(() => {})
    for (const pass of this.passes) await closed(pass)
    if (this.copy === undefined) return
    for (const descriptor of this.copy.descriptors) closeSync(descriptor)
    if (this.copy.path !== undefined) unlinkSync(this.copy.path)
  }

  private checkOpen(): void {
    if (this.closing !== undefined) throw new Error(`${this.path} is closed`)
  }
}
