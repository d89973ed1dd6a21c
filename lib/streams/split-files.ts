import { close, write } from 'node:fs'
import { Writable } from 'node:stream'
import { promisify } from 'node:util'
import type { EventBatch } from '../event/batch.js'
import { asError, TraceError, wrongType } from '../event/error.js'
import { showValue } from '../event/message-text.js'
import { checkNeededOptions, LIMIT, wholeNumber, type OptionNames } from '../event/options.js'
import { recycle } from '../event/recycle.js'
import type { Encoder } from '../event/stage.js'
import type { TraceEvent } from '../event/trace-event.js'
import { compressed, type Compression } from './compress.js'
import { EventIntake } from './intake.js'
import { PARTITION_OPTIONS, Partitioner, type PartitionOptions } from '../transforms/split.js'
import { OutputFile } from './io/output-file.js'
import type { Done } from './types.js'

const writeTo = promisify(write)
const closeFile = promisify(close)

/** A part is written when it has this many bytes waiting; otherwise many small parts would be many small writes. */
const PART_BYTES = 16_384

/** How `SplitFiles` names, writes and bounds its files. */
export interface SplitFilesOptions extends PartitionOptions {
  /** The file's name for a key, another one for each. If it throws, no files are left. */
  path: (key: string) => string
  /** A new encoder for the file of a key. */
  encoder: (key: string) => Encoder
  /** Compress each file: with `gzip`, or from Node 22.15 on with `zstd`. Default: not compressed. */
  compression?: Compression
  /**
   * Files that are open at a time; the one used least recently is closed and opened again when it is needed. Default
   * 64.
   */
  maxOpen?: number
  /** More keys than this are an error, before the disk is full of tiny files. Default 1000; `Infinity` for no limit. */
  maxFiles?: number
  /**
   * Reuse the memory of written batches and of the encoders' chunks, which must have no other consumer (see `recycle`).
   * Default false.
   */
  recycle?: boolean
}

const OPTIONS: OptionNames<SplitFilesOptions> = {
  ...PARTITION_OPTIONS,
  path: 'function',
  encoder: 'function',
  compression: ['gzip', 'zstd'],
  maxOpen: wholeNumber(1),
  maxFiles: LIMIT,
  recycle: 'boolean',
}

interface Part {
  path: string
  file: OutputFile
  encoder: Encoder
  waiting: Uint8Array[]
  bytes: number
  ended: boolean
  /** The encoder threw, and is not used again. */
  failed: boolean
}

/**
 * A Writable for `EventBatch` objects that divides events by key into files. The files get their names when all of them
 * are complete (see `OutputFile`). Like `DescriptorSink` it loses nothing when it is destroyed: everything received is
 * written, without the formats' end marks, and the files remain as `partial`.
 */
export class SplitFiles extends Writable {
  private readonly partitioner: Partitioner
  private readonly parts = new Map<string, Part>()
  private readonly names = new Set<string>()
  /** Descriptors of open files, the one used least recently first. */
  private readonly open = new Map<Part, number>()
  /** The names of the files that were left incomplete; known when the stream is closed. */
  readonly partial: string[] = []
  private readonly intake = new EventIntake(
    'SplitFiles',
    (batch) => this.writeBatch(batch),
    (text) => this.emit('warning', text),
  )
  private working: Promise<void> = Promise.resolve()
  /** A file cannot have its name: nothing is left of the others. */
  private isRefused = false

  private readonly options: SplitFilesOptions

  /** @throws TypeError without options, `path` or `encoder`; RangeError for unknown options */
  constructor(options: SplitFilesOptions) {
    super({ objectMode: true, highWaterMark: 1 })
    checkNeededOptions(options, OPTIONS, 'SplitFiles')
    for (const name of ['path', 'encoder'] as const)
      if (options[name] === undefined) throw wrongType(`SplitFiles: ${name} must be a function, not undefined`)
    this.options = { ...options }
    const { path: _p, encoder: _e, compression: _c, maxOpen: _o, maxFiles: _f, recycle: _r, ...partition } = options
    this.partitioner = new Partitioner(partition)
  }

  /** The losses of the encoders in all files. */
  get losses(): ReadonlyMap<string, number> {
    const sum = new Map<string, number>()
    for (const { encoder } of this.parts.values()) {
      for (const [what, n] of encoder.losses.counts) sum.set(what, (sum.get(what) ?? 0) + n)
    }
    return sum
  }

  /** The files' names, by key. */
  get paths(): ReadonlyMap<string, string> {
    return new Map([...this.parts].map(([key, part]) => [key, part.path]))
  }

  override _write(chunk: EventBatch | TraceEvent, _encoding: BufferEncoding, done: Done): void {
    this.run(() => this.intake.take(chunk), done)
  }

  override _final(done: Done): void {
    this.run(async () => {
      for (const { key, batch } of this.partitioner.end()) await this.writePart(key, batch)
      for (const text of this.partitioner.warnings) this.emit('warning', text)
      await this.finish((encoder) => encoder.end())
      await this.closeAll()
      // Waiting for the disk takes some milliseconds for each of many files.
      for (const { file } of this.parts.values()) file.commit(false)
    }, done)
  }

  override _destroy(error: Error | null, done: Done): void {
    void this.working
      .then(() => this.finish((encoder) => encoder.endTruncated()))
      // If writing has failed before, it fails again: report the first fault.
      .catch((fault: Error) => (error ??= fault))
      .then(() => this.closeAll())
      .catch((fault: Error) => (error ??= fault))
      .then(() => {
        for (const { file } of this.parts.values()) {
          const partial = this.isRefused ? file.discard() : file.abandon()
          if (partial !== undefined) this.partial.push(partial)
        }
        done(error)
      })
  }

  private run(work: () => Promise<void>, done: Done): void {
    this.working = work().then(
      () => done(),
      (thrown: unknown) => done(asError(thrown)),
    )
  }

  private async writeBatch(batch: EventBatch): Promise<void> {
    let fault: unknown
    for (const { key, batch: events } of this.partitioner.partition(batch)) {
      // The fault of one part does not affect the events of the others.
      try {
        await this.writePart(key, events)
      } catch (error) {
        fault ??= inFile(asError(error), this.parts.get(key))
      }
    }
    if (fault !== undefined) throw fault
    if (this.options.recycle === true) recycle(batch)
  }

  /** Writes events that have no other consumer. */
  private async writePart(key: string, events: EventBatch): Promise<void> {
    const part = this.part(key)
    part.encoder.feed(events)
    this.collect(part)
    if (part.encoder.consumes === true && this.options.recycle === true) recycle(events)
    if (part.bytes >= PART_BYTES) await this.flushPart(part)
  }

  /** Ends every encoder that has not been ended, and writes the pending output. */
  private async finish(endEncoder: (encoder: Encoder) => void): Promise<void> {
    let fault: unknown
    await this.intake.finish().catch((error: unknown) => (fault = error))
    for (const part of this.parts.values()) {
      if (part.ended) continue
      part.ended = true
      try {
        if (!part.failed) endEncoder(part.encoder)
        this.collect(part)
      } catch (error) {
        fault ??= inFile(error, part)
      }
      // Including output before a fault, regardless of faults in other parts.
      try {
        await this.flushPart(part)
      } catch (error) {
        fault ??= error
      }
    }
    if (fault !== undefined) throw fault
  }

  private part(key: string): Part {
    let part = this.parts.get(key)
    if (part === undefined) {
      const { path, encoder, maxFiles = 1000 } = this.options
      if (this.parts.size >= maxFiles)
        throw new Error(`more than ${maxFiles} parts: split by something else, or raise --max-files`)
      const name = this.nameOf(path, key)
      part = {
        path: name,
        file: new OutputFile(name),
        encoder: encoder(key),
        waiting: [],
        bytes: 0,
        ended: false,
        failed: false,
      }
      this.parts.set(key, part)
    }
    return part
  }

  private nameOf(path: SplitFilesOptions['path'], key: string): string {
    try {
      const name = path(key)
      if (this.names.has(name)) throw new Error(`SplitFiles: path gives ${showValue(name)} for several parts`)
      this.names.add(name)
      return name
    } catch (error) {
      this.isRefused = true
      throw error
    }
  }

  private collect(part: Part): void {
    if (part.failed) return
    for (let out = part.encoder.next(); out !== null; out = part.encoder.next()) {
      part.waiting.push(out)
      part.bytes += out.length
    }
  }

  private async flushPart(part: Part): Promise<void> {
    const fd = await this.descriptor(part)
    if (part.bytes === 0) return
    const bytes = Buffer.concat(part.waiting)
    if (this.options.recycle === true) part.waiting.forEach(recycle)
    part.waiting = []
    part.bytes = 0
    // Each piece is a separate member or frame, so that no file needs its own compressor in memory.
    const { compression } = this.options
    let rest = compression === undefined ? bytes : compressed(bytes, compression)
    while (rest.length > 0) rest = rest.subarray((await writeTo(fd, rest)).bytesWritten)
  }

  /** The descriptor of the part's file, opened if need be, as the one used last. */
  private async descriptor(part: Part): Promise<number> {
    let fd = this.open.get(part)
    if (fd === undefined) {
      const oldest = this.open.entries().next()
      if (oldest.done !== true && this.open.size >= (this.options.maxOpen ?? 64)) {
        this.open.delete(oldest.value[0])
        await closeFile(oldest.value[1])
      }
      fd = part.file.open()
    }
    this.open.delete(part)
    this.open.set(part, fd)
    return fd
  }

  private async closeAll(): Promise<void> {
    const descriptors = [...this.open.values()]
    this.open.clear()
    await Promise.all(descriptors.map((fd) => closeFile(fd)))
  }
}

/** The error of an encoder, with the place in its part. */
function inFile(error: unknown, part: Part | undefined): unknown {
  if (part === undefined) return error
  part.failed = true
  if (error instanceof TraceError) error.message = `${part.path}: ${error.message}`
  return error
}
