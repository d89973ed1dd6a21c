import { HI, LO } from '../../../lib/bytes/u64.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../../../lib/event/batch.js'
import type { TraceError, TracePosition } from '../../../lib/event/error.js'
import { FieldBit, Kind } from '../../../lib/event/fields.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { Fault, failure } from './fault.js'
import {
  INTERNAL_TYPE,
  MAX_LEB,
  NAME_ENTRIES,
  RECORD,
  hasSources,
  type MtrcLayout,
} from '../../../lib/formats/mtrc/layout.js'
import { readLeb } from './leb128.js'
import { ReadNames } from './names.js'
import { LiveBlocks } from './resolve.js'

const HAS_INDEX = FieldBit.index
const HAS_ADDRESS = FieldBit.address
const HAS_OLD_ADDRESS = FieldBit.oldAddress
const HAS_SIZE = FieldBit.size
const HAS_THREAD = FieldBit.thread
const HAS_FUNCTION = FieldBit.function
const HAS_FILE = FieldBit.file
const HAS_LINE = FieldBit.line
const HAS_TYPE = FieldBit.type
const KIND_ALLOC = Kind.alloc
const KIND_REALLOC = Kind.realloc
const KIND_FREE = Kind.free
const KIND_RESERVE = Kind.reserve
const BLOCK_FIELDS = HAS_INDEX | HAS_ADDRESS | HAS_SIZE
const SOURCE_FIELDS = HAS_THREAD | HAS_FUNCTION | HAS_FILE | HAS_LINE
const { alloc: A, free: F, reserve: H, internal: I, mark: M, realloc: R } = RECORD
const INTERNAL = new TextEncoder().encode(INTERNAL_TYPE)

/**
 * `RecordReader.read` looks at most this many bytes beyond a record's first byte or the end of a name: five numbers,
 * the record's type and two bytes for names.
 */
export const PADDING = 5 * MAX_LEB + 3

/** Why `RecordReader.read` returned. */
export const Stop = { short: 0, full: 1, mark: 2, fault: 3 } as const
/** One of the values of `Stop`: the input ended, the batch is full, an `M` stands where a record begins, or a fault. */
export type Stop = (typeof Stop)[keyof typeof Stop]

/** How many bytes an event is taken to need before any was read. */
const TYPICAL_BYTES = 16

/** Reads the records between a header and an end marker into the columns of batches. */
export class RecordReader {
  /** Why `read` returned. */
  stop: Stop = Stop.short
  private readonly functions = new ReadNames()
  private readonly files = new ReadNames()
  private readonly live: LiveBlocks | undefined
  private readonly line = new Uint32Array(2)
  private sources = false
  /** Bytes and events so far in this trace. */
  private bytesRead = 0
  private eventsRead = 0
  private faultCode = 0
  private faultType = 0

  constructor(resolve: boolean) {
    this.live = resolve ? new LiveBlocks() : undefined
  }

  /** Another trace begins. */
  beginTrace(layout: MtrcLayout): void {
    this.sources = hasSources(layout)
    this.functions.clear()
    this.files.clear()
    this.live?.clear()
    this.bytesRead = 0
    this.eventsRead = 0
  }

  /** A batch for what `left` bytes may hold. It is to be filled by `read` before another one is made. */
  newBatch(header: TraceHeader, left: number): EventBatch {
    const { bytesRead, eventsRead } = this
    const expected = Math.ceil((left * (eventsRead || 1)) / (bytesRead || TYPICAL_BYTES))
    // Batches grow with the trace, so that a stream of many tiny traces does not allocate a large one for each.
    const capacity = Math.max(16, Math.min(expected + (expected >>> 4), 64 + 4 * eventsRead, BATCH_EVENTS))
    this.functions.startBatch()
    this.files.startBatch()
    return new EventBatch(capacity, BLOCK_FIELDS | (this.sources ? SOURCE_FIELDS : 0), header)
  }

  /**
   * Reads whole records into a batch and says in `stop` why it did not go on. Does not begin to read a record with less
   * than `PADDING` bytes left of `bytes`, so that numbers need no bounds checks.
   * @param end one past the last byte of input; beyond it, `bytes` may have zeros as padding
   * @returns the position of the first record that was not read
   */
  read(batch: EventBatch, bytes: Uint8Array, from: number, end: number): number {
    const { kind: kinds, mask, strings } = batch
    const index = batch.index.words
    const address = batch.address.words
    const size = batch.size.words
    const thread = batch.thread.words
    const { function: functionIds, file: fileIds, line: lines } = batch
    const { sources, live, functions, files, line } = this
    const knownFunctions = functions.ids
    const knownFiles = files.ids
    const last = bytes.length - PADDING
    const first = batch.count
    let capacity = strings.byteLength > BATCH_STRING_BYTES ? Math.max(first, 1) : batch.capacity
    let stop: Stop = Stop.short
    let i = first
    let start = from
    while (start < end && start <= last) {
      if (i === capacity) {
        stop = Stop.full
        break
      }
      const type = bytes[start]
      let p = start + 1
      let fields = BLOCK_FIELDS
      if (type === A || type === R) {
        p = readLeb(bytes, p, index, 2 * i)
        if (p > 0) p = readLeb(bytes, p, address, 2 * i)
        if (p > 0) p = readLeb(bytes, p, size, 2 * i)
      } else if (type === F) {
        p = readLeb(bytes, p, index, 2 * i)
        fields = HAS_INDEX
      } else if (type === H || type === I) {
        p = readLeb(bytes, p, address, 2 * i)
        if (p > 0) p = readLeb(bytes, p, size, 2 * i)
        fields = HAS_ADDRESS | HAS_SIZE
      } else if (type === M) {
        stop = Stop.mark
        break
      } else {
        p = Fault.unknownType
      }
      if (sources && p > 0 && (fields & HAS_INDEX) !== 0) {
        fields |= HAS_THREAD | HAS_LINE
        p = readLeb(bytes, p, thread, 2 * i)
        if (p > 0) {
          const byte = bytes[p]
          if (byte === 0) {
            p++
          } else {
            fields |= HAS_FUNCTION
            const id = byte <= NAME_ENTRIES ? knownFunctions[byte] : -1
            if (id >= 0) {
              functionIds[i] = id
              p++
            } else {
              p = functions.read(bytes, p, end, strings, functionIds, i)
              if (p > last) p = Fault.short
            }
          }
        }
        if (p > 0) {
          const byte = bytes[p]
          if (byte === 0) {
            p++
          } else {
            fields |= HAS_FILE
            const id = byte <= NAME_ENTRIES ? knownFiles[byte] : -1
            if (id >= 0) {
              fileIds[i] = id
              p++
            } else {
              p = files.read(bytes, p, end, strings, fileIds, i)
              if (p > last) p = Fault.short
            }
          }
        }
        if (p > 0) {
          p = readLeb(bytes, p, line, 0)
          // A number that runs into the padding may have more bits than it seems, so it is not judged yet.
          if (line[HI] !== 0 && p > 0 && p <= end) p = Fault.lineTooLarge
          lines[i] = line[LO]
        }
        if (strings.byteLength > BATCH_STRING_BYTES) capacity = i + 1
      }
      if (p <= 0) {
        if (p !== Fault.short) {
          stop = Stop.fault
          this.faultCode = p
          this.faultType = type
        }
        break
      }
      if (p > end) break
      if (type === A) {
        kinds[i] = KIND_ALLOC
        if (live !== undefined) live.put(index, address, size, i)
      } else if (type === F) {
        kinds[i] = KIND_FREE
        if (live !== undefined && live.take(index, address, size, i)) fields |= HAS_ADDRESS | HAS_SIZE
      } else if (type === R) {
        kinds[i] = KIND_REALLOC
        if (live !== undefined) {
          batch.addColumns(HAS_OLD_ADDRESS)
          if (live.move(index, address, size, batch.oldAddress.words, i)) fields |= HAS_OLD_ADDRESS
        }
      } else {
        kinds[i] = KIND_RESERVE
        if (type === I) {
          batch.addColumns(HAS_TYPE)
          batch.type[i] = strings.intern(INTERNAL)
          fields |= HAS_TYPE
        }
      }
      mask[i] = fields
      i++
      start = p
    }
    batch.count = i
    this.stop = stop
    this.bytesRead += start - from
    this.eventsRead += i - first
    return start
  }

  /** The error for the fault that `read` stopped at. */
  failure(at: TracePosition): TraceError {
    return failure(this.faultCode, this.faultType, at)
  }
}
