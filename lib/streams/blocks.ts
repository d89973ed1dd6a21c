import { nameInput } from '../event/error.js'
import { checkNeededOptions, checkOptions, oneOf, type OptionNames } from '../event/options.js'
import { BlockEncoder } from '../exports/tables/block-encoder.js'
import { TABLE_FORMATS, type TableFormatName } from '../exports/tables/formats.js'
import { tableWriter, type TableWriterOptions } from '../exports/tables/index.js'
import { StackEncoder } from '../exports/tables/stack-encoder.js'
import { runStage } from '../reading/run-stage.js'
import { BlockTable, type BlockTableOptions } from '../transforms/block-table/block-table.js'
import { blockColumns, type BlockRow } from '../transforms/block-table/columns.js'
import { STACK_COLUMNS } from '../transforms/block-table/stack-numbers.js'
import { throwIfAborted } from './io/open-trace.js'
import { pathOf, READ_SOURCE_OPTIONS, readSource, type ReadSourceOptions, type TraceSource } from './read-source.js'
import { encoderStream } from './stage.js'
import type { ByteStream } from './types.js'

const OPTIONS: OptionNames<ReadSourceOptions & BlockTableOptions> = { ...READ_SOURCE_OPTIONS, spans: 'boolean' }

/**
 * The blocks of a trace, one after the other, as plain objects: each block is given when it, or the trace, ends. Memory
 * grows with the number of live blocks, and of distinct stacks. The stacks of live blocks take 3 to 4 times the bytes
 * of their texts.
 *
 * @example
 * for await (const block of blocks('app.mtrc.gz')) if (block.ending === 'live') console.log(block.size, block.frame)
 *
 * @throws RangeError for unknown options; while iterating, TraceError (with the path of a file) and the errors of the
 *   source, after the blocks before the fault
 */
export function blocks(
  source: TraceSource,
  options: ReadSourceOptions & BlockTableOptions = {},
): AsyncGenerator<BlockRow, void, void> {
  checkOptions(options, OPTIONS, 'blocks')
  const { spans = false, ...reading } = options
  const { signal } = reading
  const { batches } = readSource(source, reading)
  const path = pathOf(source)
  return (async function* () {
    try {
      // A file opened here has no other consumer of its batches.
      for await (const rows of runStage(new BlockTable({ spans }), batches, () => {}, path !== undefined))
        for (let i = 0; i < rows.count; i++) {
          // Those of blocks that are live at the end follow also where the reading was aborted.
          throwIfAborted(signal)
          yield rows.row(i)
        }
    } catch (error) {
      if (path !== undefined) nameInput(error, path)
      throw error
    }
  })()
}

/** Options of `stackTable`. */
export interface StackTableOptions extends TableWriterOptions {
  readonly to: TableFormatName
}

const FORMATS = TABLE_FORMATS.map(({ name }) => name)

const TABLE: OptionNames<StackTableOptions> = {
  to: FORMATS,
  codec: ['snappy', 'zstd', 'none'],
}

/** Options of `blockTable`. */
export interface BlockStreamOptions extends BlockTableOptions, StackTableOptions {
  /** Write the whole stack in each row, in the columns `stack` and `site`; default false: only `stackId`, `frame`. */
  readonly fullStacks?: boolean
}

/**
 * A Transform from events to the table of blocks in some format, as `hf-blocks` writes it.
 *
 * @example
 * const table = blockTable({ to: 'parquet' })
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), table, createWriteStream('b.parquet'))
 *
 * @throws RangeError for unknown options
 */
export function blockTable(options: BlockStreamOptions): ByteStream<'events'> {
  checkTable(options, { ...TABLE, spans: 'boolean', fullStacks: 'boolean' }, 'blockTable')
  const { to, spans = false, codec, fullStacks = false } = options
  return encoderStream(
    async () =>
      new BlockEncoder(
        await tableWriter(to, blockColumns(fullStacks), { ...(codec && { codec }) }),
        { spans },
        fullStacks,
      ),
    { name: 'blockTable()' },
  )
}

/**
 * A Transform from events to the table of their stacks in some format, as `hf-blocks --stacks` writes it: the columns
 * `stackId`, which rows of `blockTable` for the same events have, and `stack`, the frames, innermost first. The table
 * follows when the events have ended. It takes the memory of `blockTable`.
 *
 * @example
 * const table = stackTable({ to: 'parquet' })
 * await pipeline(createReadStream('app.hfrec'), decompress(), decodeAny(), table, createWriteStream('s.parquet'))
 *
 * @throws RangeError for unknown options
 */
export function stackTable(options: StackTableOptions): ByteStream<'events'> {
  checkTable(options, TABLE, 'stackTable')
  const { to, codec } = options
  return encoderStream(
    async () => new StackEncoder(await tableWriter(to, STACK_COLUMNS, { ...(codec && { codec }) })),
    { name: 'stackTable()' },
  )
}

/** Refuses options without a format, too. */
function checkTable<Options extends StackTableOptions>(
  options: Options,
  names: OptionNames<Options>,
  of: string,
): void {
  checkNeededOptions(options, names, of)
  if (options.to === undefined) throw new RangeError(`${of}: to must be ${oneOf(FORMATS)}, not undefined`)
}
