import type { TableColumn } from '../../event/table.js'
import type { Held } from './column-reader.js'
import { ParquetFault } from './fault.js'
import { FlatColumn } from './flat-columns.js'
import type { ColumnShape } from './schema-read.js'

/** Reads a column of a type that its field cannot have: it may have nulls only. */
export class NullColumn extends FlatColumn {
  protected readonly memory = 0

  /** @param must the fault of a value */
  constructor(
    column: TableColumn,
    shape: ColumnShape,
    held: Held,
    private readonly must: string,
  ) {
    super(column, shape, held)
  }

  prepare(_table: unknown, rows: number): number {
    return rows
  }

  copy(): void {}

  protected setDictionary(): void {}

  protected beginPage(): void {}

  protected read(): void {
    throw new ParquetFault(this.must)
  }

  protected spread(): void {}
}
