import { columnOf, type EventBatch } from '../../event/batch.js'
import { APIS, FIELDS, KINDS, OUTCOMES, type FieldType } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Encoder } from '../../event/stage.js'
import { Losses } from '../../kernel/losses.js'
import { CARRIED } from '../arrow/layout.js'
import { TRACES_KEY, type CodecName } from './layout.js'
import type { TableColumn, TableRows } from './table.js'
import { ParquetWriter } from './writer.js'

const TYPES: Readonly<Record<FieldType, Pick<TableColumn, 'type' | 'names'>>> = {
  u64: { type: 'u64' },
  address: { type: 'u64' },
  u32: { type: 'u32' },
  i32: { type: 'i32' },
  api: { type: 'code', names: APIS },
  outcome: { type: 'code', names: OUTCOMES },
  string: { type: 'name' },
  bytes: { type: 'bytes' },
  list: { type: 'names' },
  json: { type: 'name' },
}

/** The columns of events: the kind, and all fields. */
export const EVENT_COLUMNS: readonly TableColumn[] = [
  { name: 'kind', type: 'code', f: -1, names: KINDS },
  ...FIELDS.map(({ name, type }, f) => ({ name, f, ...TYPES[type] })),
]

/** Options of the encoder. */
export interface ParquetEncodeOptions {
  /** How pages are compressed. Default `snappy`; `zstd` needs Node 22.15 or newer. */
  codec?: CodecName
}

/** Events as a Parquet file with a column for each field. Its index is at its end, so a truncated trace has none. */
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
    if (batch.count > 0) this.writer.add(rowsOf(batch))
  }

  end(): void {
    this.writer.end({ [TRACES_KEY]: JSON.stringify(this.traces) })
  }

  endTruncated(): void {
    // Without an index, nothing reads it as a whole trace.
  }

  next(): Uint8Array | null {
    return this.writer.next()
  }
}

function rowsOf(batch: EventBatch): TableRows {
  const { count, mask, strings } = batch
  return { count, mask, strings, values: ({ f }) => (f < 0 ? batch.kind : batch[columnOf(f)]) }
}
