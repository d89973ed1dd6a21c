import { TABLE_FORMATS } from '../../exports/tables/formats.js'
import { flag, type Command } from '../command.js'
import { ARROW_FLAG, OUTPUT_FLAGS, SYMBOLIZE_FLAG, SYMBOLIZE_HELP } from '../flags.js'

export const blocks: Command = {
  name: 'hf-blocks',
  summary: 'write a table of blocks: when each lived, its sizes, who allocated and freed it',
  operands: '[FILE]',
  description:
    'A row is written when its block ends, and for blocks that are live at the end of the trace then. Its columns: ' +
    'docs/blocks.md. hf-sql queries it. What is a block, a leak, temporary or the peak is the same as in hf-stats; ' +
    'events that are about no live block, such as a double free, have no row.\n' +
    'A block that realloc resized has one row, with its first and its last size; its site and its thread are those ' +
    'of the last realloc. With --spans it has a row for each of its sizes, as many as the allocations that hf-stats ' +
    'counts.\n' +
    'Rows have the frame that a block comes from and, in the column stackId, the number of its stack. --stacks ' +
    'writes the table of stacks, each once, with the columns stackId and stack, to join with the rows; it is ' +
    'complete when the command ends. --full-stacks puts the whole stack into each row instead, for programs that ' +
    'read a pipe.\n' +
    `${SYMBOLIZE_HELP}\n` +
    'If the input is truncated, the rows of what was read are written before the error; Parquet needs a whole trace.',
  memory:
    'grows with the live blocks (150 to 420 bytes each), with their sites, and with the distinct stacks. With ' +
    '--full-stacks, each distinct stack of live blocks takes 3 to 4 times the bytes of its text.',
  flags: [
    flag('--spans', 'Write a row for each size that a block had, also where realloc resized it'),
    flag(
      '--stacks FILE',
      'Write the table of stacks to FILE, in the format of its name; with another name in that of the rows',
    ),
    flag('--full-stacks', 'Write the whole stack in each row, in the columns stack and site'),
    flag('--to FORMAT', 'Write this format; by default what the name after -o says, else ndjson', {
      values: TABLE_FORMATS.map(({ name }) => name),
    }),
    SYMBOLIZE_FLAG,
    ARROW_FLAG,
    ...OUTPUT_FLAGS,
  ],
  examples: {
    'hf-blocks -o blocks.parquet --stacks stacks.parquet app.hfrec': 'two tables for DuckDB, pandas or polars',
    'hf-blocks app.mtrc | jq -c \'select(.ending == "live") | [.size, .frame]\'': 'what was never freed',
    'hf-filter --thread 3 --lifetimes app.mtrc | hf-blocks --to csv': 'the blocks of one thread',
  },
  run: async (args) => (await import('./blocks.run.js')).runBlocks(args),
}
