import { BlockEncoder } from '../../exports/tables/block-encoder.js'
import { tableWriter } from '../../exports/tables/index.js'
import { stackPieces } from '../../exports/tables/stack-encoder.js'
import { blockColumns } from '../../transforms/block-table/columns.js'
import { STACK_COLUMNS } from '../../transforms/block-table/stack-numbers.js'
import { isSameOutput } from '../../streams/io/output-place.js'
import { oneOf, UsageError, type Arguments } from '../command.js'
import { inputOperand } from '../input.js'
import { namedInput } from '../named-input.js'
import { outputOf, refuseCompressed, writePieces, type Output } from '../output.js'
import { runTrace } from '../pipeline.js'
import { namedTableFormat, tableFormat } from '../table-format.js'

/** Runs `hf-blocks`. @throws UsageError */
export async function runBlocks(args: Arguments): Promise<void> {
  const input = inputOperand(args)
  const format = tableFormat(args, args.value('output') ?? '-')
  const output = outputOf(args, [input], format.binary)
  refuseCompressed(args, format.name, output.compression)
  const isFull = args.has('full-stacks')
  const writer = await tableWriter(format.name, blockColumns(isFull))
  const through = new BlockEncoder(writer, { spans: args.has('spans') }, isFull)
  const run = () => runTrace({ command: 'hf-blocks', input: namedInput(input, args), through, output, recycle: true })
  const path = args.value('stacks')
  if (path === undefined) return run()
  oneOf(args, ['stacks', 'full-stacks'])
  const stackFormat = namedTableFormat(path, () => 'give it another name') ?? format
  const stacks = stackOutput(args, path, input, output, stackFormat.binary)
  refuseCompressed(args, stackFormat.name, stacks.compression)
  const stackWriter = await tableWriter(stackFormat.name, STACK_COLUMNS)
  await writePieces(
    stacks,
    stacksAfter(run, () => stackPieces(stackWriter, through.stacks)),
    { blocking: false },
  )
}

/** Where the stacks go. @throws UsageError when the rows go there, too */
function stackOutput(args: Arguments, path: string, input: string, rows: Output, binary: boolean): Output {
  const output = outputOf(args, [input], binary, path)
  if (isSameOutput(path, rows.path)) throw new UsageError(`--stacks and the rows cannot both be written to ${path}`)
  return output
}

/** The stacks of a trace, when its rows are written. @throws the fault of the trace, after the stacks before it */
async function* stacksAfter(
  run: () => Promise<void>,
  pieces: () => Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  let fault: { readonly error: unknown } | undefined
  try {
    await run()
  } catch (error) {
    fault = { error }
  }
  yield* pieces()
  if (fault !== undefined) throw fault.error
}
