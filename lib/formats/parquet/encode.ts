import type { EventBatch } from '../../event/batch.js'
import { limit, type TraceError } from '../../event/error.js'
import { eventRows, MAX_TEXTS } from '../../codec/event-rows.js'
import { eventsBefore, mostTexts, type TextSizes } from '../../codec/text-sizes.js'
import { wholeGroups } from '../../event/groups.js'
import type { TraceHeader } from '../../event/header.js'
import type { Encoder } from '../../event/stage.js'
import { EVENT_COLUMNS, GROUP_COLUMNS, GROUPED } from '../../event/table.js'
import { Losses } from '../../kernel/losses.js'
import { CARRIED } from '../arrow/layout.js'
import { MAX_FRAMES, MAX_TEXT, MAX_TRACES, TRACES_KEY, TRUNCATED_KEY, type CodecName } from './layout.js'
import { ParquetWriter } from './writer.js'

export interface ParquetEncodeOptions {
  /** The compression of pages. Default `snappy`; `zstd` needs Node 22.15 or newer. */
  codec?: CodecName
}

/**
 * Events as a Parquet file with a column for each field of the core, and for each field of groups that some event has.
 * If the trace is truncated, its index says so.
 */
export class ParquetEncoder implements Encoder {
  readonly losses = Losses.ofAll('parquet', CARRIED)
  readonly consumes = true
  private readonly writer: ParquetWriter
  /** The first row of each trace, and its header. */
  private readonly traces: [row: number, header: TraceHeader][] = []
  private header: TraceHeader | undefined
  /** The bytes of the list of traces in the index. The first has no comma before it. */
  private listed = 1
  private fault: TraceError | undefined
  /** The set of fields of groups that have columns. */
  private groups = 0

  /** @throws RangeError when this machine lacks the codec */
  constructor({ codec = 'snappy' }: ParquetEncodeOptions = {}) {
    this.writer = new ParquetWriter(EVENT_COLUMNS, codec)
  }

  feed(batch: EventBatch): void {
    this.losses.countBatch(batch)
    if (batch.header !== this.header && !this.addTrace(batch.header))
      return this.refuse(`a list of traces of more than ${MAX_TRACES} bytes`)
    if (batch.groups !== undefined) this.addColumns(wholeGroups(batch.groups.used(batch.count)))
    const writable = isLarge(mostTexts(batch)) ? eventsBefore(batch, isLarge) : batch.count
    for (const rows of eventRows(batch, writable)) this.writer.add(rows)
    if (writable < batch.count)
      this.refuse(
        `a string of more than ${MAX_TEXT} bytes, strings of more than ${MAX_TEXTS} bytes, ` +
          `or a stack of more than ${MAX_FRAMES} frames`,
      )
  }

  /** @returns whether readers take so long a list */
  private addTrace(header: TraceHeader): boolean {
    this.header = header
    const trace: [row: number, header: TraceHeader] = [this.writer.count, header]
    this.listed += Buffer.byteLength(JSON.stringify(trace)) + 1
    if (this.listed > MAX_TRACES) return false
    this.traces.push(trace)
    return true
  }

  /** Ends the file before an event that readers would not take. */
  private refuse(reason: string): void {
    this.fault = limit(reason, { format: 'parquet', event: this.writer.count + 1 })
    this.endTruncated()
  }

  /** Adds columns for fields of groups that have none yet. */
  private addColumns(fields: number): void {
    const added = fields & ~this.groups
    if (added === 0) return
    this.groups |= added
    this.writer.addColumns(GROUP_COLUMNS.filter(({ f }) => (added >>> (f - GROUPED)) & 1))
  }

  end(): void {
    this.writer.end({ [TRACES_KEY]: JSON.stringify(this.traces) })
  }

  endTruncated(): void {
    // Without the index, no reader could read the rows so far.
    this.writer.end({ [TRACES_KEY]: JSON.stringify(this.traces), [TRUNCATED_KEY]: 'true' })
  }

  /** @throws TraceError for more traces, or longer strings or stacks, than a reader takes */
  next(): Uint8Array | null {
    const piece = this.writer.next()
    if (piece === null && this.fault !== undefined) throw this.fault
    return piece
  }
}

/** Whether readers do not take an event with these strings. */
function isLarge({ distinct, longest, items }: TextSizes): boolean {
  return longest > MAX_TEXT || distinct > MAX_TEXTS || items > MAX_FRAMES
}
