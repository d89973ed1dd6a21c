import { BlockEncoder } from '../../exports/tables/block-encoder.js'
import { tableWriter } from '../../exports/tables/index.js'
import { BLOCK_COLUMNS } from '../../transforms/block-table/columns.js'
import type { Arguments } from '../command.js'
import { inputOperand, traceInput } from '../input.js'
import { outputOf } from '../output.js'
import { runTrace } from '../pipeline.js'
import { tableFormat } from '../table-format.js'

/** Runs `hf-blocks`. @throws UsageError */
export async function runBlocks(args: Arguments): Promise<void> {
  const input = inputOperand(args)
  const format = tableFormat(args, args.value('output') ?? '-')
  const output = outputOf(args, [input], format.binary)
  const through = new BlockEncoder(await tableWriter(format.name, BLOCK_COLUMNS), { spans: args.has('spans') })
  await runTrace({ command: 'hf-blocks', input: traceInput(input), through, output, recycle: true })
}
