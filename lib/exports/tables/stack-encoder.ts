import type { EventBatch } from '../../event/batch.js'
import type { Stage } from '../../event/stage.js'
import type { TableWriter } from '../../event/table.js'
import { BlockTable } from '../../transforms/block-table/block-table.js'
import { StackNumbers } from '../../transforms/block-table/stack-numbers.js'

/** The warning for tables in which some stacks have no number. */
export const TOO_MANY_STACKS = 'there are too many distinct stacks: those that came last have no stackId'

/** The table of stacks as bytes. @param writer writes a table with `STACK_COLUMNS` */
export function* stackPieces(writer: TableWriter, stacks: StackNumbers, isTruncated = false): Generator<Uint8Array> {
  for (const rows of stacks.rows()) {
    writer.add(rows)
    yield* piecesOf(writer)
  }
  if (isTruncated) writer.endTruncated?.()
  else writer.end()
  yield* piecesOf(writer)
}

function* piecesOf(writer: TableWriter): Generator<Uint8Array> {
  for (let piece = writer.next(); piece !== null; piece = writer.next()) yield piece
}

/** The table of stacks that belongs to the table of blocks of the same events. */
export class StackEncoder implements Stage<EventBatch, Uint8Array> {
  readonly consumes = true
  readonly warnings: string[] = []
  private readonly table = new BlockTable({}, new StackNumbers(), false)
  private pieces: Generator<Uint8Array> | undefined

  /** @param writer writes a table with `STACK_COLUMNS` */
  constructor(private readonly writer: TableWriter) {}

  feed(batch: EventBatch): void {
    this.table.feed(batch)
  }

  end(): void {
    this.begin(false)
  }

  endTruncated(): void {
    this.begin(true)
  }

  private begin(isTruncated: boolean): void {
    if (this.table.numbers.isFull) this.warnings.push(TOO_MANY_STACKS)
    this.pieces = stackPieces(this.writer, this.table.numbers, isTruncated)
  }

  dispose(): void {
    this.table.dispose()
  }

  /** @throws RangeError when there is no memory for the blocks */
  next(): Uint8Array | null {
    if (this.pieces !== undefined) return this.pieces.next().value ?? null
    while (this.table.next() !== null) continue
    return null
  }
}
