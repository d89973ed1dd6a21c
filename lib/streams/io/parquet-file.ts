import { open, type FileHandle } from 'node:fs/promises'
import type * as hyparquet from 'hyparquet'
import { unzstdWhole } from '../../compression/zstd-whole.js'
import { EventBatch } from '../../event/batch.js'
import { malformed, TraceError, truncated } from '../../event/error.js'
import type { TraceHeader } from '../../event/header.js'
import { MAGIC, TRACES_KEY, TRUNCATED_KEY } from '../../formats/parquet/layout.js'
import { noFile } from '../../formats/parquet/no-file.js'
import { batchesOfRows, isEventColumn, tracesIn, type ReadColumn } from '../../formats/parquet/rows.js'
import { showValue } from '../../event/message-text.js'
import { noEvents } from '../../event/table.js'
import type { Warn } from '../../reading/run-stage.js'
import { checkPages, rangeOfGroup } from './parquet-pages.js'

/** The most bytes of a row group that are held in memory. */
const MAX_HELD = 33_554_432

/** The most rows that are read at once. */
const STEP = 65_536

const FORMAT = 'parquet'

/** After the index come its length, of 4 bytes, and the magic number. */
const TAIL = 4 + MAGIC.length

/**
 * The events of a Parquet file, by its index.
 * @throws TraceError for a damaged or truncated file, or one without the columns of events
 */
export async function* readParquet(path: string, warn: Warn): AsyncGenerator<EventBatch> {
  const file = await open(path)
  const progress: Progress = { events: 0, offset: 0 }
  try {
    yield* eventsOf(file, warn, progress)
  } catch (error) {
    if (error instanceof TraceError || (error as NodeJS.ErrnoException).syscall !== undefined) throw error
    throw malformed((error as Error).message, { format: FORMAT, offset: progress.offset, event: progress.events + 1 })
  } finally {
    await file.close()
  }
}

/** How far a file was read. */
interface Progress {
  events: number
  /** The offset of what is read: of the index at the end of the file, or of a row group. */
  offset: number
}

async function* eventsOf(file: FileHandle, warn: Warn, progress: Progress): AsyncGenerator<EventBatch> {
  const { size } = await file.stat()
  const buffer = new FileBytes(file, size)
  if (!isMagic(new Uint8Array(await buffer.slice(0, MAGIC.length)))) throw noFile()
  const end = new Uint8Array(await buffer.slice(Math.max(0, size - TAIL)))
  if (size < MAGIC.length + TAIL || !isMagic(end.subarray(-MAGIC.length)))
    throw truncated('no index at the end of the file', { format: FORMAT, offset: size, event: 1 })
  const index = size - TAIL - new DataView(end.buffer).getUint32(0, true)
  progress.offset = index < MAGIC.length ? size - TAIL : index
  if (index < MAGIC.length) throw new Error('the index is longer than the file')
  const reader = await load<Hyparquet>(() => import('hyparquet'), 'hyparquet')
  // Columns of geometry are none of events, and hyparquet looks for them endlessly in a schema with negative counts.
  const metadata = await reader.parquetMetadataAsync(buffer, { geoparquet: false })
  if (metadata.schema.some(({ num_children: children }) => children !== undefined && children < 0))
    throw new Error('the schema has a negative number of columns')
  const names = reader.parquetSchema(metadata).children.map(({ element }) => element.name)
  if (!names.includes('kind')) throw new Error(noEvents(names))
  for (const name of names.filter((one) => !isEventColumn(one)))
    warn(`${FORMAT}: the column ${showValue(name)} is not a field of events: left out`)
  const columns = names.filter(isEventColumn)
  const traces = tracesIn(metadata.key_value_metadata?.find(({ key }) => key === TRACES_KEY)?.value)
  const rows = Number(metadata.num_rows)
  const source = { file: buffer, metadata, index, columns, checked: new Set<hyparquet.RowGroup>() }
  for (const [i, [first, header]] of traces.entries()) {
    progress.offset = index
    const next = traces[i + 1]?.[0] ?? rows
    if (next < first || next > rows) throw new Error('a trace begins where no row is')
    yield new EventBatch(0, 0, header)
    yield* traceOf(reader, source, first, next, header, progress)
  }
  if (metadata.key_value_metadata?.some(({ key }) => key === TRUNCATED_KEY) === true)
    throw truncated('the file was written from a truncated or damaged trace', {
      format: FORMAT,
      offset: index,
      event: progress.events + 1,
    })
}

function isMagic(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte)
}

type Hyparquet = typeof hyparquet

/** A file as hyparquet reads it. One range may be held in memory: a read for each column would take much longer. */
class FileBytes implements hyparquet.AsyncBuffer {
  private held = new Uint8Array(0)
  private heldFrom = 0

  constructor(
    private readonly file: FileHandle,
    readonly byteLength: number,
  ) {}

  async slice(from: number, to = this.byteLength): Promise<ArrayBuffer> {
    const at = from - this.heldFrom
    if (at >= 0 && to - this.heldFrom <= this.held.length) return this.held.slice(at, to - this.heldFrom).buffer
    return (await this.read(from, to)).buffer
  }

  /** Reads a range into memory, instead of the one before, unless it is too long or not in the file. */
  async hold(from: number, to: number): Promise<void> {
    this.held = new Uint8Array(0)
    if (!(from >= 0 && to <= this.byteLength && to - from <= MAX_HELD)) return
    this.held = await this.read(from, to)
    this.heldFrom = from
  }

  private async read(from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(to - from)
    const { bytesRead } = await this.file.read({ buffer: bytes, position: from })
    return bytesRead === bytes.length ? bytes : bytes.slice(0, bytesRead)
  }
}

/** Whether a column has a value in a row group, as far as the index says. */
function mayHave({ columns }: hyparquet.RowGroup, name: string): boolean {
  return columns.some(({ meta_data: column }) => {
    // In a list, an empty one counts as null too.
    if (column?.path_in_schema[0] !== name || column.path_in_schema.length > 1)
      return column?.path_in_schema[0] === name
    return column.statistics?.null_count !== column.num_values
  })
}

/** The parameters for reading a part of a file. */
interface Source {
  readonly file: FileBytes
  readonly metadata: hyparquet.FileMetaData
  /** Where the metadata is in the file. */
  readonly index: number
  readonly columns: string[]
  /** The row groups whose checksums were checked. Several traces may be in one. */
  readonly checked: Set<hyparquet.RowGroup>
}

async function* traceOf(
  reader: Hyparquet,
  source: Source,
  first: number,
  end: number,
  header: TraceHeader,
  progress: Progress,
): AsyncGenerator<EventBatch> {
  // Ranges within row groups, so that no value is read twice.
  let groupEnd = 0
  for (const [number, group] of source.metadata.row_groups.entries()) {
    progress.offset = source.index
    let from = Math.max(first, groupEnd)
    groupEnd += Number(group.num_rows)
    if (from >= Math.min(end, groupEnd)) continue
    const columns = source.columns.filter((name) => mayHave(group, name))
    if (!columns.includes('kind')) throw new Error(`row group ${number + 1} has no kinds of events`)
    const [start, past] = rangeOfGroup(group)
    await source.file.hold(start, past)
    if (!source.checked.has(group)) await checkPages(source.file, group, columns, progress.events + 1, source.index)
    source.checked.add(group)
    progress.offset = start
    for (; from < Math.min(end, groupEnd); from += STEP) {
      const to = Math.min(end, groupEnd, from + STEP)
      const read = await columnsOf(reader, { ...source, columns }, from, to)
      for (const batch of batchesOfRows(read, to - from, header)) {
        // Its consumer may use the batch again.
        const { count } = batch
        yield batch
        progress.events += count
      }
    }
  }
}

/** The columns of some rows. */
async function columnsOf(
  { parquetRead }: Hyparquet,
  source: Source,
  rowStart: number,
  rowEnd: number,
): Promise<ReadonlyMap<string, ReadColumn>> {
  const { compressors } = await load(() => import('hyparquet-compressors'), 'hyparquet-compressors')
  const count = rowEnd - rowStart
  const columns = new Map<string, ReadColumn>()
  await parquetRead({
    ...source,
    rowStart,
    rowEnd,
    // Its own inflater of zstd takes very long for some damaged data.
    compressors: { ...compressors, ZSTD: unzstdWhole },
    // Bytes that are not strings remain bytes.
    utf8: false,
    onChunk: ({ columnName, columnData, rowStart: at }) => {
      if (at === rowStart && columnData.length === count) {
        columns.set(columnName, columnData)
        return
      }
      // A part of the rows, or a larger range.
      let column = columns.get(columnName) as unknown[] | undefined
      if (column === undefined) columns.set(columnName, (column = Array.from({ length: count })))
      const last = Math.min(columnData.length, rowEnd - at)
      for (let i = Math.max(0, rowStart - at); i < last; i++) column[at + i - rowStart] = columnData[i]
    },
  })
  return columns
}

/** Loads an optional package. @throws Error with the way to install it */
async function load<Module>(importIt: () => Promise<Module>, name: string): Promise<Module> {
  try {
    return await importIt()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new TraceError(
      'ERR_TRACE_UNKNOWN_FORMAT',
      `reading Parquet takes the package ${name}: run \`npm install ${name}\``,
      { format: FORMAT, offset: 0 },
    )
  }
}
