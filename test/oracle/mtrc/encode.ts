import { Sink } from '../../../lib/bytes/sink.js'
import { HI, LO } from '../../../lib/bytes/u64.js'
import type { EventBatch } from '../../../lib/event/batch.js'
import { unencodable } from '../../../lib/event/error.js'
import { FieldBit, Kind } from '../../../lib/event/fields.js'
import { NO_HEADER, type TraceHeader } from '../../../lib/event/header.js'
import { Losses } from '../../../lib/kernel/losses.js'
import type { Encoder } from '../../../lib/event/stage.js'
import type { EncodeOptions } from '../../../lib/event/format.js'
import { CARRIED, CARRIED_WITHOUT_SOURCES, FILLED } from '../../../lib/formats/mtrc/encode.js'
import { BlockIndices, LEFT_OUT } from './indices.js'
import {
  FORMAT,
  INTERNAL_TYPE,
  MAGIC,
  MAX_NAME,
  RECORD,
  hasSources,
  layoutOf,
  writeHeader,
} from '../../../lib/formats/mtrc/layout.js'
import { MAX_CANONICAL_LEB, NAME_DEFINES } from './constants.js'
import { writeLeb } from './leb128.js'
import { NOT_CACHED, WrittenNames } from './names.js'

const HAS_INDEX = FieldBit.index
const HAS_ADDRESS = FieldBit.address
const HAS_SIZE = FieldBit.size
const HAS_THREAD = FieldBit.thread
const HAS_FUNCTION = FieldBit.function
const HAS_FILE = FieldBit.file
const HAS_LINE = FieldBit.line
const HAS_TYPE = FieldBit.type
const KIND_RESERVE = Kind.reserve
/** The record type of each kind with an index, by the kind's code. */
const RECORD_OF_KIND = new Uint8Array(Object.keys(Kind).length)
RECORD_OF_KIND[Kind.alloc] = RECORD.alloc
RECORD_OF_KIND[Kind.existing] = RECORD.alloc
RECORD_OF_KIND[Kind.realloc] = RECORD.realloc
RECORD_OF_KIND[Kind.free] = RECORD.free
const { free: F, internal: I, reserve: H } = RECORD

/** A record without the names it defines takes at most this many bytes. */
const MAX_RECORD = 3 + 5 * MAX_CANONICAL_LEB

/** Results are given out when they have about this many bytes. */
const OUTPUT_BYTES = 131_072

/**
 * Events to mpatrol tracing output. Events that have an allocation index keep it; others get one by their address,
 * which costs memory in proportion to the blocks that are live at once.
 */
export class MtrcEncoder implements Encoder {
  readonly losses: Losses
  private readonly sink = new Sink(OUTPUT_BYTES + 4096)
  private readonly indices = new BlockIndices()
  private readonly functions = new WrittenNames()
  private readonly files = new WrittenNames()
  private header: TraceHeader | undefined
  private sources = true
  private batch: EventBatch | undefined
  /** The next event of the batch to write, and one past the last. */
  private row = 0
  private rows = 0
  /** Events in the batches before this one. */
  private events = 0
  private fault: unknown

  constructor(options: EncodeOptions = {}) {
    this.losses = new Losses(FORMAT, CARRIED, options.strict, FILLED)
  }

  feed(batch: EventBatch): void {
    this.batch = batch
    this.row = 0
    this.rows = 0
    try {
      if (batch.header !== this.header) this.beginTrace(batch.header)
    } catch (error) {
      this.fault = error
      return
    }
    this.functions.startBatch()
    this.files.startBatch()
    this.rows = this.losses.countBatch(batch)
    this.events += batch.count
  }

  next(): Uint8Array | null {
    const { batch, sink } = this
    if (batch !== undefined && this.fault === undefined) {
      try {
        this.writeRows(batch)
        if (this.row === this.rows) {
          this.batch = undefined
          if (this.rows < batch.count) this.fault = this.losses.errorFor(batch, this.rows)
        }
      } catch (error) {
        this.fault = error
      }
    }
    if (sink.pos > 0) return sink.take()
    if (this.fault !== undefined) throw this.fault
    return null
  }

  end(): void {
    if (this.header === undefined) this.beginTrace(NO_HEADER)
    this.sink.append(MAGIC)
  }

  endTruncated(): void {
    // A truncated trace has no end marker, and nothing else is held back.
  }

  private beginTrace(header: TraceHeader): void {
    const layout = layoutOf(header)
    if (typeof layout === 'string') throw unencodable(layout, { format: FORMAT, event: this.events + 1 })
    if (this.header !== undefined && layout.follows !== 'cut') this.sink.append(MAGIC)
    this.sink.append(writeHeader(layout))
    this.header = header
    this.sources = hasSources(layout)
    this.losses.use(this.sources ? CARRIED : CARRIED_WITHOUT_SOURCES, this.sources ? FILLED : [])
    this.indices.clear()
    this.functions.clear()
    this.files.clear()
  }

  /**
   * Writes events until the batch or the room for output is used up. Whatever it throws, `sink` ends with a whole
   * record.
   */
  private writeRows(batch: EventBatch): void {
    const { sink, sources, indices, rows, functions, files } = this
    const { kind: kinds, mask, function: functionIds, file: fileIds, line } = batch
    const address = batch.address.words
    const size = batch.size.words
    const thread = batch.thread.words
    let i = this.row
    for (; i < rows && sink.pos < OUTPUT_BYTES; i++) {
      const kind = kinds[i]
      const fields = mask[i]
      let type = 0
      if (kind === KIND_RESERVE) {
        type = (fields & HAS_TYPE) !== 0 ? this.reserveType(batch, i) : H
      } else if (RECORD_OF_KIND[kind] !== 0) {
        type = (fields & HAS_INDEX) !== 0 ? indices.follow(batch, i) : indices.assign(batch, i)
        for (const reason of indices.reasons) this.losses.countEvent(reason, batch, i)
      } else if ((fields & HAS_INDEX) !== 0) {
        indices.passOver(batch.index.values[i])
      }
      if (type === LEFT_OUT) continue

      sink.reserve(MAX_RECORD)
      let out = sink.bytes
      let p = sink.pos
      out[p++] = type
      if (kind !== KIND_RESERVE)
        p = writeLeb(out, p, Number(indices.index & 0xffff_ffffn), Number(indices.index >> 32n))
      if (type !== F) {
        if ((fields & HAS_ADDRESS) !== 0) p = writeLeb(out, p, address[2 * i + LO], address[2 * i + HI])
        else p = this.writeMissing('address', batch, i, p)
        if ((fields & HAS_SIZE) !== 0) p = writeLeb(out, p, size[2 * i + LO], size[2 * i + HI])
        else p = this.writeMissing('size', batch, i, p)
      }
      if (sources && kind !== KIND_RESERVE) {
        if ((fields & HAS_THREAD) !== 0) p = writeLeb(out, p, thread[2 * i + LO], thread[2 * i + HI])
        else out[p++] = 0
        if ((fields & HAS_FUNCTION) !== 0) {
          p = this.writeName(functions, functionIds[i], batch, i, p)
          out = sink.bytes
        } else {
          out[p++] = 0
        }
        if ((fields & HAS_FILE) !== 0) {
          p = this.writeName(files, fileIds[i], batch, i, p)
          out = sink.bytes
        } else {
          out[p++] = 0
        }
        if ((fields & HAS_LINE) !== 0) p = writeLeb(out, p, line[i], 0)
        else out[p++] = 0
      }
      sink.pos = p
    }
    this.row = i
  }

  private reserveType(batch: EventBatch, i: number): number {
    if (batch.strings.text(batch.type[i]) === INTERNAL_TYPE) return I
    this.losses.countEvent(`types of reserves other than "${INTERNAL_TYPE}"`, batch, i)
    return H
  }

  private writeMissing(field: string, batch: EventBatch, i: number, p: number): number {
    this.losses.countEvent(`no ${field}, written as 0`, batch, i)
    this.sink.bytes[p] = 0
    return p + 1
  }

  /**
   * Writes a name at `p`: its cache entry, with the name itself when it gets one only now. Leaves room for the rest of
   * a record; `sink.bytes` may be another array afterwards, `sink.pos` stays at the record's first byte.
   * @returns the position after it
   */
  private writeName(cache: WrittenNames, id: number, batch: EventBatch, i: number, p: number): number {
    const { sink } = this
    const entry = cache.touch(id, batch.strings)
    if (entry !== NOT_CACHED) {
      sink.bytes[p] = entry
      return p + 1
    }
    const name = batch.strings.view(id)
    const unfit = unfitness(name)
    if (unfit !== undefined) {
      this.losses.countEvent(unfit, batch, i)
      sink.bytes[p] = 0
      return p + 1
    }
    // A sink that grows keeps only what is before its position, so that has to be behind the record's first bytes.
    const start = sink.pos
    sink.pos = p
    sink.reserve(name.length + 2 + MAX_RECORD)
    sink.pos = start
    const { bytes } = sink
    bytes[p] = cache.define(id, name) | NAME_DEFINES
    bytes.set(name, p + 1)
    bytes[p + 1 + name.length] = 0
    return p + name.length + 2
  }
}

/** Why a name has no place in a trace, or undefined. */
function unfitness(name: Uint8Array): string | undefined {
  if (name.length === 0) return 'empty names'
  if (name.length > MAX_NAME) return `names of more than ${MAX_NAME} bytes`
  return name.includes(0) ? 'names with a NUL in them' : undefined
}
