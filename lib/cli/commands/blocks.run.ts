import { BlockEncoder } from '../../exports/tables/block-encoder.js'
import { tableWriter } from '../../exports/tables/index.js'
import { compressor } from '../../streams/compress.js'
import { decodeAny } from '../../streams/decode.js'
import { openOutput } from '../../streams/io/stdio.js'
import { BLOCK_COLUMNS } from '../../transforms/block-table/columns.js'
import type { Arguments } from '../command.js'
import { bytesOf, inputOperand } from '../input.js'
import { outputOf } from '../output.js'
import { tableFormat } from '../output-format.js'
import { runStreams } from '../pipeline.js'

/** Runs `hf-blocks`. @throws UsageError */
export async function runBlocks(args: Arguments): Promise<void> {
  const input = inputOperand(args)
  const format = tableFormat(args, args.value('output') ?? '-')
  const { path, compression } = outputOf(args, [input], format.binary)
  const stage = new BlockEncoder(await tableWriter(format.name, BLOCK_COLUMNS), { spans: args.has('spans') })
  await runStreams(
    'hf-blocks',
    [input],
    () => [
      ...bytesOf(input),
      decodeAny({ path: input, recycle: true, through: stage }),
      ...(compression ? [compressor(compression)] : []),
    ],
    () => openOutput(path, { recycle: compression === undefined, blocking: true }),
  )
}
