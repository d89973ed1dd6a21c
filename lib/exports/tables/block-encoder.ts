import { SpacesError } from '../../blocks/address-spaces.js'
import type { EventBatch } from '../../event/batch.js'
import { groupFieldNames } from '../../event/fields.js'
import { hasInventedAddresses, UNIDENTIFIED } from '../../event/header.js'
import type { Stage } from '../../event/stage.js'
import type { TableWriter } from '../../event/table.js'
import { BlockTable, type BlockTableOptions } from '../../transforms/block-table/block-table.js'
import type { BlockRows } from '../../transforms/block-table/columns.js'
import { StackNumbers } from '../../transforms/block-table/stack-numbers.js'
import { BlockDoubts } from './doubts.js'
import { TOO_MANY_STACKS } from './stack-encoder.js'

/**
 * The table of blocks as bytes. Warns of a trace that lacks events (see `BlockDoubts`), that does not say which block
 * is freed, or whose events have fields of groups, for which there are no columns.
 */
export class BlockEncoder implements Stage<EventBatch, Uint8Array> {
  readonly consumes = true
  readonly warnings: string[] = []
  private readonly doubts = new BlockDoubts()
  private isIdentified = true
  /** The set of fields of groups that events have. */
  private groupFields = 0
  private readonly table: BlockTable
  private fault: SpacesError | undefined
  /** The end is still to be written. */
  private ending: 'end' | 'endTruncated' | undefined

  /**
   * @param writer writes a table with columns of `BLOCK_COLUMNS`
   * @param isWhole whether `stack` and `site` are among them
   */
  constructor(
    private readonly writer: TableWriter,
    options: BlockTableOptions,
    isWhole: boolean,
  ) {
    this.table = new BlockTable(options, new StackNumbers(), isWhole)
  }

  feed(batch: EventBatch): void {
    this.doubts.add(batch)
    this.isIdentified &&= !hasInventedAddresses(batch.header)
    if (batch.groups !== undefined) this.groupFields |= batch.groups.used(batch.count)
    this.table.feed(batch)
  }

  end(): void {
    this.warn()
    this.table.end()
    this.ending = 'end'
  }

  /** Blocks that are live at the fault have rows too. A format with an end mark gets it only if readers need it. */
  endTruncated(): void {
    this.warn()
    this.table.endTruncated()
    this.ending = 'endTruncated'
  }

  /** The stacks of the rows, complete at the end. */
  get stacks(): StackNumbers {
    return this.table.numbers
  }

  private warn(): void {
    this.warnings.push(...this.doubts.warnings('blocks'))
    if (!this.isIdentified) this.warnings.push(UNIDENTIFIED)
    if (this.stacks.isFull) this.warnings.push(TOO_MANY_STACKS)
    if (this.groupFields === 0) return
    const names = groupFieldNames(this.groupFields).join(', ')
    this.warnings.push(`events have ${names}, for which blocks have no columns: events of hf-sql have them`)
  }

  dispose(): void {
    this.table.dispose()
  }

  /**
   * @throws RangeError when there is no memory for the blocks
   * @throws SpacesError when blocks cannot be distinguished, after the table of the events before that one
   */
  next(): Uint8Array | null {
    for (;;) {
      const piece = this.writer.next()
      if (piece !== null) return piece
      const rows = this.rows()
      if (rows !== null) {
        this.writer.add(rows)
        continue
      }
      const { ending } = this
      if (ending !== undefined) {
        this.ending = undefined
        this.writer[ending]?.()
      } else if (this.fault === undefined) return null
      else throw this.fault
    }
  }

  private rows(): BlockRows | null {
    try {
      return this.table.next()
    } catch (error) {
      if (!(error instanceof SpacesError)) throw error
      if (this.fault === undefined) this.endTruncated()
      this.fault = error
      return null
    }
  }
}
