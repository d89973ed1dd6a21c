import type { EventBatch } from '../../event/batch.js'
import type { Stage } from '../../event/stage.js'
import type { TableWriter } from '../../event/table.js'
import { BlockTable, type BlockTableOptions } from '../../transforms/block-table/block-table.js'

/** The table of blocks as bytes. */
export class BlockEncoder implements Stage<EventBatch, Uint8Array> {
  readonly consumes = true
  private readonly table: BlockTable
  /** The input is complete, and its end is still to be written. */
  private isEnding = false

  /** @param writer writes a table with `BLOCK_COLUMNS` */
  constructor(
    private readonly writer: TableWriter,
    options: BlockTableOptions = {},
  ) {
    this.table = new BlockTable(options)
  }

  feed(batch: EventBatch): void {
    this.table.feed(batch)
  }

  end(): void {
    this.table.end()
    this.isEnding = true
  }

  /** Blocks that are live at the fault have rows too. A format with an end mark does not get it. */
  endTruncated(): void {
    this.table.endTruncated()
  }

  /** @throws RangeError when there is no memory for the blocks */
  next(): Uint8Array | null {
    for (;;) {
      const piece = this.writer.next()
      if (piece !== null) return piece
      const rows = this.table.next()
      if (rows !== null) {
        this.writer.add(rows)
      } else if (this.isEnding) {
        this.isEnding = false
        this.writer.end()
      } else {
        return null
      }
    }
  }
}
