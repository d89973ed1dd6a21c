import { flag, type Command } from '../command.js'
import { SQL_FORMATS } from '../defaults.js'
import { OUTPUT_FLAGS, SYMBOLIZE_FLAG, SYMBOLIZE_HELP } from '../flags.js'

export const sql: Command = {
  name: 'hf-sql',
  summary: 'query traces with SQL: the tables events, blocks, spans, stacks, handoffs and threads',
  operands: '[TRACE...] QUERY',
  isOpenEnded: true,
  description:
    'Runs a query of DuckDB on traces of any format. The table events has a row for each event, with all fields as ' +
    'columns; blocks has a row for each block, and spans a row for each size of a block, as hf-blocks writes them; ' +
    'handoffs has the blocks and bytes of each site that one thread allocated and another one freed; threads ' +
    'has what threads are called; stacks has each stack once, by the stackId of blocks and spans. In all others the ' +
    'column file is the name of the trace, and sourceFile that of the source file. Examples and details: ' +
    'docs/sql.md.\n' +
    'Only the tables and columns that the query needs are written, to temporary files in TMPDIR, which are always ' +
    'removed. The query can read nothing but these tables. The rows of a damaged trace up to the fault count, and ' +
    'the exit status is 1.\n' +
    `${SYMBOLIZE_HELP}\n` +
    'It needs DuckDB: npm install @duckdb/node-api.',
  exitStatus: {
    '1': 'A damaged trace, a failure while the query ran, or an I/O error.',
    '2': 'Usage error, also a query that DuckDB refuses before any trace is read, such as a syntax error.',
  },
  memory:
    'that of hf-blocks for its tables (with --full-stacks, if the query has stack or site), else constant; and what ' +
    'DuckDB takes, at most 80 % of the memory of the machine.',
  flags: [
    flag('-f, --file FILE', 'Read the query from FILE; all operands are traces then', { reads: true }),
    flag('--to FORMAT', 'Write this format; by default what the name after -o says, else a table to look at', {
      values: SQL_FORMATS,
    }),
    flag('--full', 'Show the cells of a table whole: longer ones are cut at 120 characters otherwise'),
    SYMBOLIZE_FLAG,
    ...OUTPUT_FLAGS,
  ],
  examples: {
    [`hf-sql app.hfrec "select frame, sum(size) from blocks where ending = 'live' group by frame"`]:
      'leaks by the frame that allocated, as rows of hf-stats begin',
    'hf-sql day*.mtrc.gz -f query.sql -o result.csv': 'a query in a file, on several traces',
  },
  run: async (args) => (await import('./sql.run.js')).runSql(args),
}
