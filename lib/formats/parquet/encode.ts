import type { EventBatch } from '../../event/batch.js'
import type { TraceHeader } from '../../event/header.js'
import type { Encoder } from '../../event/stage.js'
import { EVENT_COLUMNS, eventRows } from '../../event/table.js'
import { Losses } from '../../kernel/losses.js'
import { CARRIED } from '../arrow/layout.js'
import { TRACES_KEY, TRUNCATED_KEY, type CodecName } from './layout.js'
import { ParquetWriter } from './writer.js'

/** Options of the encoder. */
export interface ParquetEncodeOptions {
  /** How pages are compressed. Default `snappy`; `zstd` needs Node 22.15 or newer. */
  codec?: CodecName
}

/** Events as a Parquet file with a column for each field. If the trace is truncated, its index says so. */
export class ParquetEncoder implements Encoder {
  readonly losses = new Losses('parquet', CARRIED)
  readonly consumes = true
  private readonly writer: ParquetWriter
  /** The first row of each trace, and its header. */
  private readonly traces: [row: number, header: TraceHeader][] = []
  private header: TraceHeader | undefined

  /** @throws RangeError when this machine lacks the codec */
  constructor({ codec = 'snappy' }: ParquetEncodeOptions = {}) {
    this.writer = new ParquetWriter(EVENT_COLUMNS, codec)
  }

  feed(batch: EventBatch): void {
    this.losses.countBatch(batch)
    if (batch.header !== this.header) {
      this.header = batch.header
      this.traces.push([this.writer.count, batch.header])
    }
    if (batch.count > 0) this.writer.add(eventRows(batch))
  }

  end(): void {
    this.writer.end({ [TRACES_KEY]: JSON.stringify(this.traces) })
  }

  endTruncated(): void {
    // Without the index, no reader would get what there is.
    this.writer.end({ [TRACES_KEY]: JSON.stringify(this.traces), [TRUNCATED_KEY]: 'true' })
  }

  next(): Uint8Array | null {
    return this.writer.next()
  }
}
