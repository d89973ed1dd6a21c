import { open } from 'node:fs/promises'
import { eventColumn, noEvents } from '../../codec/event-rows.js'
import { EventBatch } from '../../event/batch.js'
import { limit, malformed, truncated } from '../../event/error.js'
import { showText, showValue } from '../../event/message-text.js'
import type { ColumnReader, Held } from '../../formats/parquet/column-reader.js'
import { ParquetFault, ParquetLimit } from '../../formats/parquet/fault.js'
import { readIndex, type FileIndex, type Group } from '../../formats/parquet/index-read.js'
import { MAGIC, MAX_INDEX } from '../../formats/parquet/layout.js'
import { noFile } from '../../formats/parquet/no-file.js'
import { readerOf } from '../../formats/parquet/reader-of.js'
import { takeBatch, tracesIn } from '../../formats/parquet/rows.js'
import { checkNames } from '../../formats/parquet/schema-read.js'
import type { Warn } from '../../reading/run-stage.js'
import { FileBytes, PagesOf, type ParquetFile } from './parquet-pages.js'

const FORMAT = 'parquet'

/** A row group is read at once, unless most of its bytes belong to columns that are left out. */
const MAX_SPREAD = 4
const LEAST_GROUP = 16_384

/** After the index come its length, of 4 bytes, and the magic number. */
const TAIL = 4 + MAGIC.length

/**
 * The events of a Parquet file, by its index.
 * @param closed when it is aborted, the file is closed, even if no more events are asked for
 * @throws TraceError for a damaged or truncated file, or a file without the columns of events; the error `EBADF` of a
 *   read after it was closed
 */
export async function* readParquet(path: string, warn: Warn, closed?: AbortSignal): AsyncGenerator<EventBatch> {
  yield* readParquetFile(await open(path), warn, closed)
}

/** The same for a file that is open, which is closed at the end. */
export async function* readParquetFile(
  file: ParquetFile,
  warn: Warn,
  closed?: AbortSignal,
): AsyncGenerator<EventBatch> {
  const close = () => void file.close()
  if (closed?.aborted === true) close()
  closed?.addEventListener('abort', close)
  const progress: Progress = { events: 0, offset: 0 }
  try {
    yield* eventsOf(file, warn, progress)
  } catch (error) {
    if (!(error instanceof ParquetFault)) throw error
    const make = error instanceof ParquetLimit ? limit : malformed
    throw make(error.message, { format: FORMAT, offset: progress.offset, event: progress.events + 1 })
  } finally {
    closed?.removeEventListener('abort', close)
    await file.close()
  }
}

/** The position in a file that is read. */
interface Progress {
  events: number
  /** The offset of the current read: the index at the end of the file, or a page. */
  offset: number
}

async function* eventsOf(file: ParquetFile, warn: Warn, progress: Progress): AsyncGenerator<EventBatch> {
  const { size } = await file.stat()
  const bytes = new FileBytes(file, size)
  if (!isMagic(await bytes.read(0, Math.min(size, MAGIC.length)))) throw noFile()
  const end = await bytes.read(Math.max(0, size - TAIL), size)
  if (size < MAGIC.length + TAIL || !isMagic(end.subarray(-MAGIC.length)))
    throw truncated('no index at the end of the file', { format: FORMAT, offset: size, event: 1 })
  const length = new DataView(end.buffer, end.byteOffset).getUint32(0, true)
  const at = size - TAIL - length
  progress.offset = at < MAGIC.length ? size - TAIL : at
  if (at < MAGIC.length) throw new ParquetFault('the index is longer than the file')
  if (length > MAX_INDEX) throw new ParquetLimit(`an index of more than ${MAX_INDEX} bytes`)
  const index = readIndex(await bytes.read(at, size - TAIL))
  yield* rowsOf(bytes, index, at, readersOf(index, warn), progress)
  if (index.isTruncated)
    throw truncated('the file was written from a truncated or damaged trace', {
      format: FORMAT,
      offset: at,
      event: progress.events + 1,
    })
}

function isMagic(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte)
}

/** The readers of the columns that are fields of events. */
function readersOf({ columns }: FileIndex, warn: Warn): ColumnReader[] {
  const names = columns.map(({ name }) => name)
  if (!names.includes('kind')) throw new ParquetFault(noEvents(names))
  checkNames(columns.filter(({ name }) => eventColumn(name) !== undefined))
  const held: Held = { bytes: 0 }
  return columns.flatMap((shape) => {
    const column = eventColumn(shape.name)
    if (column === undefined) {
      warn(`${FORMAT}: the column ${showValue(shape.name)} is not a field of events: left out`)
      return []
    }
    return [readerOf(column, shape, held)]
  })
}

/** The events of all row groups and traces. */
async function* rowsOf(
  file: FileBytes,
  index: FileIndex,
  indexAt: number,
  readers: readonly ColumnReader[],
  progress: Progress,
): AsyncGenerator<EventBatch> {
  const traces = tracesIn(index.traces)
  traces.forEach(([first], i) => {
    if (first > (traces[i + 1]?.[0] ?? index.rows)) throw new ParquetFault('a trace begins where no row is')
  })
  if (traces.length === 0 && index.rows > 0) throw new ParquetFault('the list of traces has none')
  let trace = -1
  let row = 0
  /** The headers of the traces that begin here. Traces without events follow one another. */
  const begin = function* (): Generator<EventBatch> {
    for (; traces[trace + 1]?.[0] === row; trace++) {
      const header = traces[trace + 1][1]
      yield new EventBatch(0, 0, header)
    }
  }
  yield* begin()
  // Row groups must not share bytes, so that no more is read than the length of the file.
  let left = indexAt
  let number = 0
  for (const group of index.groups()) {
    number++
    if (group.rows === 0) {
      checkEmpty(group)
      continue
    }
    const pages = await beginGroup(file, number, group, readers, indexAt)
    for (const { length } of pages) left -= length
    if (left < 0) throw new ParquetFault('row groups that share their bytes')
    for (const groupEnd = row + group.rows; row < groupEnd;) {
      await readAhead(readers, pages, progress)
      const [, header] = traces[trace]
      const batch = takeBatch(readers, (traces[trace + 1]?.[0] ?? Infinity) - row, header)
      // Its consumer may use the batch again.
      const { count } = batch
      row += count
      if (row > index.rows) throw new ParquetFault('there are more rows than the index says')
      yield batch
      progress.events += count
      progress.offset = indexAt
      yield* begin()
    }
  }
  if (row !== index.rows) throw new ParquetFault('there are fewer rows than the index says')
}

/** Checks that a row group without rows has no values. Some writers do not say where its columns are. */
function checkEmpty({ chunks }: Group): void {
  const wrong = chunks.find(({ values }) => values !== 0)
  if (wrong === undefined) return
  throw new ParquetFault(`column ${showText(wrong.name)}: ${wrong.values} values in a row group of 0 rows`)
}

/** Begins a row group. @returns the pages of each column */
async function beginGroup(
  file: FileBytes,
  number: number,
  { rows, chunks }: Group,
  readers: readonly ColumnReader[],
  indexAt: number,
): Promise<PagesOf[]> {
  const found = readers.map((reader) => {
    const { name } = reader.column
    const [chunk, other] = chunks.filter((one) => one.name === name)
    if (chunk === undefined || other !== undefined)
      throw new ParquetFault(`row group ${number} must have one column ${showText(name)}`)
    if (!(chunk.from >= MAGIC.length && chunk.from <= chunk.to && chunk.to <= indexAt))
      throw new ParquetFault(`column ${showText(name)} is not in the file`)
    try {
      reader.begin(chunk, rows)
    } catch (error) {
      throw inColumnFault(name, error)
    }
    return chunk
  })
  const from = Math.min(...found.map((chunk) => chunk.from))
  const to = Math.max(...found.map((chunk) => chunk.to))
  const length = found.reduce((sum, chunk) => sum + chunk.to - chunk.from, 0)
  if (to - from <= MAX_SPREAD * (length + LEAST_GROUP)) await file.hold(from, to)
  else file.release()
  return found.map((chunk) => new PagesOf(file, chunk.from, chunk.to))
}

/** Gives each column the pages that it needs for the next rows. */
async function readAhead(
  readers: readonly ColumnReader[],
  pages: readonly PagesOf[],
  progress: Progress,
): Promise<void> {
  for (const [i, reader] of readers.entries()) {
    const source = pages[i]
    try {
      while (reader.fill()) {
        try {
          const [head, bytes] = await source.next()
          reader.take(head, bytes)
        } catch (error) {
          reader.fail(error)
        }
      }
    } catch (error) {
      progress.offset = source.offset
      throw inColumnFault(reader.column.name, error)
    }
  }
}

/** Adds the name of a column to a fault. */
function inColumnFault(name: string, error: unknown): unknown {
  if (!(error instanceof ParquetFault)) return error
  const Kind = error instanceof ParquetLimit ? ParquetLimit : ParquetFault
  return new Kind(`column ${showText(name)}: ${error.message}`, { cause: error })
}
