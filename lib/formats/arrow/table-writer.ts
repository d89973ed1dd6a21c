import type { TableColumn, TableRows, TableWriter } from '../../event/table.js'
import { writtenTable, type WrittenTable } from './columns.js'
import { Names } from './names.js'
import { BatchWriter } from './write-batch.js'
import { codeDictionaries, dictionaryMessage, endMark, schemaMessage } from './write-messages.js'

/** Writes a table as an Arrow IPC stream: a record batch for the rows that are added at a time. */
export class ArrowTableWriter implements TableWriter {
  private readonly table: WrittenTable
  private readonly names = new Names()
  private readonly writer: BatchWriter
  private readonly pieces: Uint8Array[]

  constructor(columns: readonly TableColumn[]) {
    this.table = writtenTable(columns)
    this.writer = new BatchWriter(this.table, this.names)
    this.pieces = [schemaMessage(this.table), ...codeDictionaries(this.table)]
  }

  add(rows: TableRows): void {
    const record = this.writer.write(rows)
    const names = this.names.takeChanged()
    if (names !== undefined) this.pieces.push(dictionaryMessage(this.table.nameDictionary, names))
    this.pieces.push(record)
  }

  next(): Uint8Array | null {
    return this.pieces.shift() ?? null
  }

  end(): void {
    this.pieces.push(endMark())
  }
}
