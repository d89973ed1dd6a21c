import { closeSync, read, unlinkSync, write } from 'node:fs'
import { promisify } from 'node:util'
import type { TraceHeader } from '../../event/header.js'
import * as Pack from '../../event/pack.js'
import type { KeyedBatch } from '../../order/sort-buffer.js'
import { inTemporary } from './temporary-error.js'
import { openTemporary } from './temporary-file.js'

/**
 * The head of each batch, in words: its total length, the offset of the strings, and the number of events. Keys,
 * columns and strings follow.
 */
const HEAD_WORDS = 4
const HEAD_BYTES = 4 * HEAD_WORDS

const readAt = promisify(read)
const writeAt = promisify(write)

/** The position of a run of batches in a spill file. */
export interface Run {
  readonly start: number
  readonly end: number
  /** The bytes of the largest batch. */
  readonly largest: number
}

/**
 * A temporary file for runs of batches. If the system allows it, the file loses its name as soon as it is created, so
 * that its space is freed when it is closed, however the process ends.
 */
export class SpillFile {
  private size = 0
  private buffer = new ArrayBuffer(0)
  /** The pending read or write. */
  private pending: Promise<unknown> = Promise.resolve()
  private isClosed = false
  private readonly fd: number
  /** The file's name, if it must keep one. */
  private readonly path: string | undefined

  constructor(private readonly folder: string) {
    const { descriptors, path } = openTemporary(folder)
    this.fd = descriptors[0]
    this.path = path
  }

  /** Writes one run. @throws TemporaryFileError */
  async write(batches: Iterable<KeyedBatch> | AsyncIterable<KeyedBatch>): Promise<Run> {
    const start = this.size
    let largest = 0
    for await (const keyed of batches) {
      const bytes = this.pack(keyed)
      for (let at = 0; at < bytes.length;) {
        const writing = () => writeAt(this.fd, bytes, at, bytes.length - at, this.size + at)
        at += (await inTemporary(this.folder, () => this.run(writing))).bytesWritten
      }
      this.size += bytes.length
      largest = Math.max(largest, bytes.length)
    }
    return { start, end: this.size, largest }
  }

  /**
   * The batches of a run, with the header of their trace.
   * @param keeps whether each batch has its own memory; otherwise it is valid until the next one is requested
   */
  async *read({ start, end, largest }: Run, header: TraceHeader, keeps = false): AsyncGenerator<KeyedBatch> {
    let buffer = new ArrayBuffer(largest + HEAD_BYTES)
    await this.readFully(buffer, HEAD_BYTES, start)
    let length = new Uint32Array(buffer, 0, 1)[0]
    for (let at = start; at < end;) {
      // The head of the next batch is read with it.
      await this.readFully(buffer, Math.min(length + HEAD_BYTES, end - at), at)
      at += length
      const next = new Uint32Array(buffer, length, 1)[0]
      yield unpack(buffer, header)
      length = next
      if (keeps && at < end) buffer = new ArrayBuffer(length + HEAD_BYTES)
    }
  }

  /**
   * Closes the file, which removes it. May be called at any time: reading and writing fail from then on.
   */
  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    await this.pending.catch(() => {})
    closeSync(this.fd)
    if (this.path !== undefined) unlinkSync(this.path)
  }

  private async readFully(buffer: ArrayBuffer, length: number, position: number): Promise<void> {
    const bytes = new Uint8Array(buffer)
    for (let at = 0; at < length;) {
      const { bytesRead } = await this.run(() => readAt(this.fd, bytes, at, length - at, position + at))
      if (bytesRead === 0) throw new Error('a temporary file became shorter')
      at += bytesRead
    }
  }

  /** Runs one call at a time, and none after the file is closed, when its descriptor may belong to another file. */
  private run<T>(call: () => Promise<T>): Promise<T> {
    if (this.isClosed) return Promise.reject(new Error('the temporary file is closed'))
    const running = call()
    this.pending = running
    return running
  }

  private pack({ batch, keys }: KeyedBatch): Uint8Array {
    const { count } = batch
    const columnsAt = HEAD_BYTES + 8 * count
    const stringsAt = columnsAt + Pack.packedLength(batch)
    const length = stringsAt + Pack.packedStringsLength(batch.strings)
    if (this.buffer.byteLength < length) this.buffer = new ArrayBuffer(2 * length)
    const { buffer } = this
    new Uint32Array(buffer, 0, HEAD_WORDS).set([length, stringsAt, count])
    new Uint32Array(buffer, HEAD_BYTES, 2 * count).set(keys.subarray(0, 2 * count))
    Pack.packColumns(batch, buffer, columnsAt)
    Pack.packStrings(batch.strings, buffer, stringsAt)
    return new Uint8Array(buffer, 0, length)
  }
}

/** The batch at the beginning of a buffer; keys and columns are views of it. */
function unpack(buffer: ArrayBuffer, header: TraceHeader): KeyedBatch {
  const [, stringsAt, count] = new Uint32Array(buffer, 0, HEAD_WORDS) as unknown as [number, number, number]
  return {
    batch: Pack.viewColumns(buffer, HEAD_BYTES + 8 * count, header, Pack.unpackStrings(buffer, stringsAt)),
    keys: new Uint32Array(buffer, HEAD_BYTES, 2 * count),
  }
}
