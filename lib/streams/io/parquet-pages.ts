import { crc32 } from 'node:zlib'
import { ParquetFault, ParquetLimit } from '../../formats/parquet/fault.js'
import { MAX_HELD } from '../../formats/parquet/layout.js'
import { readPageHead, type PageHead } from '../../formats/parquet/page-head.js'
import { Incomplete } from '../../formats/parquet/thrift-read.js'

/** The maximum bytes of a row group that are held in memory. */
const MAX_GROUP = 33_554_432
/** The number of bytes that are read at once of a column of a larger row group. */
const STEP = 262_144
/** The maximum size of the head of a page, with the smallest and the largest text of the page. */
const MAX_HEAD = 16_777_216

/** The part of a file handle that is used. */
export interface ParquetFile {
  stat(): Promise<{ readonly size: number }>
  read(range: { buffer: Uint8Array; offset: number; position: number }): Promise<{ readonly bytesRead: number }>
  close(): Promise<void>
}

/** The bytes of a file. One range may be held in memory: a read for each column would take much longer. */
export class FileBytes {
  private held: Uint8Array = new Uint8Array(0)
  private heldFrom = 0

  constructor(
    private readonly file: ParquetFile,
    readonly byteLength: number,
  ) {}

  /** Reads a range. @throws ParquetFault if the file has become shorter */
  async read(from: number, to: number): Promise<Uint8Array> {
    const at = from - this.heldFrom
    if (at >= 0 && to - this.heldFrom <= this.held.length) return this.held.subarray(at, to - this.heldFrom)
    const bytes = new Uint8Array(to - from)
    for (let done = 0; done < bytes.length;) {
      // A read may give less than was asked for.
      const { bytesRead } = await this.file.read({ buffer: bytes, offset: done, position: from + done })
      if (bytesRead === 0) throw new ParquetFault('the file was truncated while it was read')
      done += bytesRead
    }
    return bytes
  }

  /** Reads a range into memory, instead of the one before, unless it is too long. */
  async hold(from: number, to: number): Promise<void> {
    this.release()
    if (to - from > MAX_GROUP) return
    this.held = await this.read(from, to)
    this.heldFrom = from
  }

  /** Gives back the memory of the range. */
  release(): void {
    this.held = new Uint8Array(0)
  }
}

/** The pages of a column in a row group, one after the other. */
export class PagesOf {
  /** The number of bytes of all pages. */
  readonly length: number
  /** The position of the page that was read last. */
  offset: number
  /** Bytes of the column that were read, and their position. */
  private bytes: Uint8Array = new Uint8Array(0)
  private bytesFrom: number

  constructor(
    private readonly file: FileBytes,
    private at: number,
    private readonly to: number,
  ) {
    this.offset = at
    this.bytesFrom = at
    this.length = to - at
  }

  /** The next page as it is stored. @throws ParquetFault when there is none, or its checksum is wrong */
  async next(): Promise<[head: PageHead, bytes: Uint8Array]> {
    this.offset = this.at
    if (this.at >= this.to) throw new ParquetFault('it has fewer values than it says')
    const head = await this.head()
    const end = head.at + head.length
    if (head.length > MAX_HELD) throw new ParquetLimit(`a page of more than ${MAX_HELD} bytes`)
    if (this.at + end > this.to) throw new ParquetFault('a page that is longer than its column')
    const bytes = (await this.range(end)).subarray(head.at, end)
    if (head.crc !== undefined && (crc32(bytes) | 0) !== head.crc)
      throw new ParquetFault('a page does not have its checksum')
    this.at += end
    return [head, bytes]
  }

  /** The head of the page that begins at the current position. */
  private async head(): Promise<PageHead> {
    for (let length = 1024; ; length *= 8) {
      const bytes = await this.range(length)
      try {
        return readPageHead(bytes, 0)
      } catch (error) {
        if (!(error instanceof Incomplete) || bytes.length < length) throw error
        if (length > MAX_HEAD) throw new ParquetLimit(`the head of a page of more than ${MAX_HEAD} bytes`)
      }
    }
  }

  /** Bytes from the current position on, fewer at the end of the column. */
  private async range(length: number): Promise<Uint8Array> {
    const end = Math.min(this.at + length, this.to)
    const { bytesFrom } = this
    if (end > bytesFrom + this.bytes.length) {
      this.bytes = await this.file.read(this.at, Math.min(this.at + Math.max(length, STEP), this.to))
      this.bytesFrom = this.at
    }
    return this.bytes.subarray(this.at - this.bytesFrom, end - this.bytesFrom)
  }
}
