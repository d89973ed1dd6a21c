import { crc32 } from 'node:zlib'
import { Inflate } from 'fflate'
import { InputReader } from '../bytes/input.js'
import { describe, malformed, truncated, type TraceError } from '../event/error.js'
import { showValue } from '../event/message-text.js'
import type { Stage } from '../event/stage.js'
import { FIRST_SLICE, nextSlice } from './compressed.js'
import * as ZipRecords from './zip-records.js'

/**
 * The maximum input for one step of the inflater. The output may be about 1000 times as large, so a bomb remains
 * bounded. This is also the maximum loss before a corrupt place, because the inflater keeps the output of the failing
 * step.
 */
const SLICE_BYTES = 4096

/**
 * The maximum input without any output: twice the size of a stored block. An inflater keeps what follows the end of its
 * data, so this also bounds memory.
 */
const MAX_SILENT_BYTES = 131_072

const NO_BYTES = new Uint8Array(0)

/**
 * Inflates the one file in a zip archive, as dumps are shipped, in one pass from front to back: stored or deflated,
 * with the sizes before the data or after them, of any size. Directories are skipped. CRC-32 and both sizes are checked
 * (fflate checks none of them, and looks for the end of data of unknown size by a signature that the data may contain).
 *
 * One thing is ambiguous in one pass: a stored file of unknown size may contain what looks like its end. (In deflated
 * data CRC-32 and size would not fit such a place, unless someone made them fit.)
 *
 * `next` throws a TraceError of format `zip`, with the offset in the archive, after all that could be inflated was
 * delivered: the archive is cut, corrupt or encrypted, uses another method, holds no file or a second one, or is
 * followed by another archive. A second file or archive is an error and not a warning, because its events would be
 * missing from a trace that looks whole.
 */
export class Unzip extends InputReader implements Stage<Uint8Array, Uint8Array> {
  readonly warnings: string[] = []
  private member: Member | null = null
  /** The file that was inflated. */
  private file: string | null = null
  /** Bytes of the current record that are still to be skipped. */
  private skip = 0
  /** The end record was found. */
  private done = false
  private broken = false

  endTruncated(): void {
    this.broken = true
  }

  next(): Uint8Array | null {
    for (;;) {
      const got = this.member !== null ? this.inflate(this.member) : this.over ? this.trailing() : this.record()
      if (typeof got === 'object') return got
      if (got) continue
      if (this.input.ended && !this.over) throw this.short()
      return null
    }
  }

  /** The whole archive has been read. */
  private get over(): boolean {
    return this.done && this.skip === 0
  }

  /** Skips one record, or begins a member. Returns false if it needs more input. */
  private record(): boolean {
    const { input } = this
    if (this.skip > 0) {
      const n = Math.min(this.skip, input.left)
      input.pos += n
      this.skip -= n
      return n > 0
    }
    if (input.left < 4) return false
    const signature = ZipRecords.u32(input.bytes, input.pos)
    if (signature === ZipRecords.LOCAL_HEADER) {
      const header = ZipRecords.readLocalHeader(input.bytes, input.pos, input.end)
      if (header !== null) this.begin(header)
      return header !== null
    }
    const length = ZipRecords.recordLength(input.bytes, input.pos, input.end)
    if (length === undefined) throw malformed('this is no record of a zip archive', this.here())
    if (length === 0) return false
    if (signature === ZipRecords.END) {
      if (this.file === null) throw malformed('the archive holds no file', this.here())
      this.done = true
    }
    this.skip = length
    return true
  }

  private begin(header: ZipRecords.LocalHeader): void {
    const name = showValue(header.name)
    const isFile = !header.name.endsWith('/')
    if (header.encrypted) throw malformed(`${name} is encrypted`, this.here())
    if (header.method !== ZipRecords.STORED && header.method !== ZipRecords.DEFLATED) {
      throw malformed(
        `${name} is compressed by method ${header.method}; only stored and deflated files can be read`,
        this.here(),
      )
    }
    if (isFile && this.file !== null) {
      throw malformed(
        `the archive holds a second file, ${name}; the first one, ${this.file}, was read whole`,
        this.here(),
      )
    }
    if (isFile) this.file = name
    this.member = new Member(name, isFile, header.method === ZipRecords.DEFLATED, header.sizes)
    this.input.pos += header.length
  }

  /** The next output of a member, or whether there was progress. */
  private inflate(member: Member): Uint8Array | boolean {
    const { input } = this
    const flush = this.input.ended || this.broken
    const { sizes, slice } = member
    let n: number
    if (sizes !== undefined) {
      const rest = sizes.compressed - member.used
      if (rest === 0) return this.finish(member, sizes)
      n = Math.min(slice, rest)
    } else {
      if (input.left < slice + ZipRecords.MAX_DESCRIPTOR_BYTES && !flush) return false
      const { bytes, pos } = input
      const last = Math.min(pos + slice, input.end - ZipRecords.MAX_DESCRIPTOR_BYTES)
      for (n = 0; pos + n <= last; n++) {
        const found = ZipRecords.readDescriptor(bytes, pos + n, member.used + n)
        if (found === null) continue
        if (n > 0) break
        input.pos += found.length
        return this.finish(member, found)
      }
      // No descriptor fits into the last bytes, so they are data of a truncated member.
      if (pos + n > last) n = slice
    }
    if (input.left < n) {
      // Tiny pieces are collected, because each step of the inflater copies its window.
      if (!flush || input.left === 0) return false
      n = input.left
    }
    const at = this.here()
    const fault = member.take(input.bytes.subarray(input.pos, input.pos + n))
    if (fault !== undefined) throw malformed(`${fault} of ${member.name}`, at)
    input.pos += n
    return member.out.length === 0 || member.out
  }

  /** Checks a member against the archive's records. */
  private finish(member: Member, sizes: ZipRecords.Sizes): boolean {
    this.member = null
    if (member.size !== sizes.size) {
      throw malformed(`${member.name} has ${member.size} bytes, and should have ${sizes.size}`, this.here())
    }
    if (member.crc !== sizes.crc) throw malformed(`the CRC-32 of ${member.name} is wrong`, this.here())
    return true
  }

  /** Leaves out what follows the archive, unless that is another one. */
  private trailing(): boolean {
    const { input, warnings } = this
    if (input.left > 0 && warnings.length === 0) {
      if (input.left < 4 && !this.input.ended && !this.broken) return false
      if (input.left >= 4 && ZipRecords.u32(input.bytes, input.pos) === ZipRecords.LOCAL_HEADER)
        throw malformed('a second archive follows; the first one was read whole', this.here())
      warnings.push(`${describe(this.here())}: bytes after the end of the archive were left out`)
    }
    input.pos = input.end
    return false
  }

  private short(): TraceError {
    const { input, member } = this
    const where = member !== null ? `inside ${member.name}` : 'before its end record is whole'
    return truncated(`the archive ends ${where}`, { format: 'zip', offset: input.offset + input.left })
  }

  private here() {
    return { format: 'zip', offset: this.input.offset }
  }
}

/** A file or directory being inflated, and its output so far. */
class Member {
  /** The output of the last step, in separate memory. */
  out: Uint8Array = NO_BYTES
  crc = 0
  /** The number of bytes of output, of input, and of input since the last output. */
  size = 0
  used = 0
  private silent = 0
  /** The size of the next slice of input in bytes. */
  slice = FIRST_SLICE
  private readonly inflater: Inflate | undefined

  constructor(
    readonly name: string,
    private readonly isFile: boolean,
    deflated: boolean,
    readonly sizes: ZipRecords.Sizes | undefined,
  ) {
    if (!deflated) return
    this.inflater = new Inflate((out) => {
      this.out = out
    })
  }

  /** Inflates the next bytes into `out`. Returns their fault, if any. */
  take(bytes: Uint8Array): string | undefined {
    try {
      if (this.inflater === undefined) this.out = new Uint8Array(bytes)
      else this.inflater.push(bytes)
    } catch {
      return 'corrupt deflated data'
    }
    const { out } = this
    this.crc = crc32(out, this.crc)
    this.size += out.length
    this.used += bytes.length
    this.slice = nextSlice(this.slice, out.length, SLICE_BYTES)
    this.silent = out.length === 0 ? this.silent + bytes.length : 0
    if (this.silent > MAX_SILENT_BYTES) return 'bytes after the end of the deflated data'
    if (this.size > (this.isFile ? (this.sizes?.size ?? Infinity) : 0))
      return 'more bytes than there should be come out'
    return undefined
  }
}
