import { open, type FileHandle } from 'node:fs/promises'
import type * as hyparquet from 'hyparquet'
import { EventBatch } from '../../event/batch.js'
import { malformed, TraceError, truncated } from '../../event/error.js'
import type { TraceHeader } from '../../event/header.js'
import { MAGIC, TRACES_KEY } from '../../formats/parquet/layout.js'
import { noFile } from '../../formats/parquet/no-file.js'
import { batchesOfRows, isEventColumn, tracesIn, type ReadColumn } from '../../formats/parquet/rows.js'
import { showValue } from '../../event/message-text.js'
import type { Warn } from '../../reading/run-stage.js'

/** The most rows that are read at once. */
const STEP = 65_536

const FORMAT = 'parquet'

/**
 * The events of a Parquet file, by its index.
 * @throws TraceError for a damaged or truncated file, or one that has not the columns of events
 */
export async function* readParquet(path: string, warn: Warn): AsyncGenerator<EventBatch> {
  const file = await open(path)
  const progress = { events: 0 }
  try {
    yield* eventsOf(file, warn, progress)
  } catch (error) {
    if (error instanceof TraceError || (error as NodeJS.ErrnoException).syscall !== undefined) throw error
    throw malformed((error as Error).message, { format: FORMAT, event: progress.events + 1 })
  } finally {
    await file.close()
  }
}

async function* eventsOf(file: FileHandle, warn: Warn, progress: { events: number }): AsyncGenerator<EventBatch> {
  const { size } = await file.stat()
  const buffer: hyparquet.AsyncBuffer = {
    byteLength: size,
    slice: async (from, to = size) => {
      const { buffer: bytes } = await file.read({ buffer: new Uint8Array(to - from), position: from })
      return bytes.buffer
    },
  }
  if (!isMagic(new Uint8Array(await buffer.slice(0, MAGIC.length)))) throw noFile()
  const end = new Uint8Array(await buffer.slice(Math.max(0, size - MAGIC.length)))
  if (size < 3 * MAGIC.length || !isMagic(end))
    throw truncated('no index at the end of the file', { format: FORMAT, offset: size, event: 1 })
  const reader = await load<Hyparquet>(() => import('hyparquet'), 'hyparquet')
  const metadata = await reader.parquetMetadataAsync(buffer)
  const names = reader.parquetSchema(metadata).children.map(({ element }) => element.name)
  for (const name of names.filter((one) => !isEventColumn(one)))
    warn(`${FORMAT}: the column ${showValue(name)} is not a field of events: left out`)
  const columns = names.filter(isEventColumn)
  if (!columns.includes('kind')) throw new Error('there is no column "kind", which each event has')
  const traces = tracesIn(metadata.key_value_metadata?.find(({ key }) => key === TRACES_KEY)?.value)
  const rows = Number(metadata.num_rows)
  for (const [i, [first, header]] of traces.entries()) {
    const next = traces[i + 1]?.[0] ?? rows
    if (next < first || next > rows) throw new Error('a trace begins where no row is')
    yield new EventBatch(0, 0, header)
    yield* traceOf(reader, { file: buffer, metadata, columns }, first, next, header, progress)
  }
}

function isMagic(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte)
}

type Hyparquet = typeof hyparquet

/** What reading a part of a file takes. */
interface Source {
  readonly file: hyparquet.AsyncBuffer
  readonly metadata: hyparquet.FileMetaData
  readonly columns: string[]
}

async function* traceOf(
  reader: Hyparquet,
  source: Source,
  first: number,
  end: number,
  header: TraceHeader,
  progress: { events: number },
): AsyncGenerator<EventBatch> {
  // Ranges within row groups, so that no value is read twice.
  let groupEnd = 0
  for (const { num_rows } of source.metadata.row_groups) {
    let from = Math.max(first, groupEnd)
    groupEnd += Number(num_rows)
    for (; from < Math.min(end, groupEnd); from += STEP) {
      const to = Math.min(end, groupEnd, from + STEP)
      const read = await columnsOf(reader, source, from, to)
      for (const batch of batchesOfRows(read, to - from, header)) {
        yield batch
        progress.events += batch.count
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
  const columns = new Map<string, unknown[]>(source.columns.map((name) => [name, Array.from({ length: rowEnd - rowStart })]))
  await parquetRead({
    ...source,
    rowStart,
    rowEnd,
    compressors,
    // Bytes that are no strings stay bytes.
    utf8: false,
    onChunk: ({ columnName, columnData, rowStart: at }) => {
      const column = columns.get(columnName)
      if (column === undefined) return
      for (let i = 0; i < columnData.length; i++) {
        const row = at + i
        if (row >= rowStart && row < rowEnd) column[row - rowStart] = columnData[i]
      }
    },
  })
  return columns
}

/** Loads an optional package. @throws Error that says how to install it */
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
