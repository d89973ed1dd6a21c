import { accessSync, constants } from 'node:fs'
import { formatNamed } from '../../formats/index.js'
import { concatInputs, mergeInputs, type MergeInput } from '../../streams/merge.js'
import { IdOffset } from '../../transforms/id-offset.js'
import { ProcessNumbers } from '../../transforms/process-numbers.js'
import type { MergeOrder } from '../../order/order-check.js'
import { integer, UsageError, type Arguments } from '../command.js'
import { runMergeJob, windowOption } from '../merging.js'
import { refuseSharedPipe, type StreamInput } from '../input.js'
import { outputFormat } from '../output-format.js'
import { mergedInput } from '../streaming.js'

/** Advice for traces that cannot be put in order. */
const INSTEAD = 'split the trace again with hf-split --number, or use --end-to-end'

/** Runs `hf-merge`. @throws UsageError, and an error when a file cannot be read */
export async function runMerge(args: Arguments): Promise<void> {
  const input = await mergeInput(args)
  const to = await outputFormat(args)
  await runMergeJob({ command: 'hf-merge', args, input, to }, INSTEAD)
}

/** The options that the flags give. @throws UsageError, and an error when a file cannot be read */
async function mergeInput(args: Arguments): Promise<StreamInput> {
  const paths = args.operands
  if (paths.length === 0) throw new UsageError('name the traces to merge')
  refuseSharedPipe(paths)
  const by = args.value('by') as MergeOrder | undefined
  const isEndToEnd = args.has('end-to-end')
  if (isEndToEnd && (by !== undefined || args.has('window')))
    throw new UsageError('--end-to-end cannot be combined with --by or --window')
  const window = windowOption(args)
  const inputs = await mergeInputsOf(args)
  // Before anything is written.
  for (const path of paths) if (path !== '-') accessSync(path, constants.R_OK)
  return mergedInput(paths, () =>
    isEndToEnd ? concatInputs(inputs) : mergeInputs(inputs, { ...window, ...(by && { by }) }),
  )
}

async function mergeInputsOf(args: Arguments): Promise<MergeInput[]> {
  const threads = integer('thread-offset', args.value('thread-offset') ?? '0')
  const processes = integer('process-offset', args.value('process-offset') ?? '0')
  const format = await formatNamed(args.value('from') ?? '')?.load()
  // With an offset, the first process has the same number in each file before that is added.
  const firsts = args.operands.map((_, i) => (processes === 0n ? BigInt(i + 1) : 1n))
  const given = firsts.map((first, i) => first + processes * BigInt(i))
  const all = new ProcessNumbers(given)
  return args.operands.map((path, i) => ({
    path,
    ...(format && { format }),
    stage: new IdOffset({
      thread: threads * BigInt(i),
      process: processes * BigInt(i),
      ...(args.has('number-processes') && {
        defaultProcess: firsts[i],
        // Of traces one after the other, no two have a process in common.
        numbers: args.has('end-to-end') ? new ProcessNumbers(given.slice(i, i + 1)) : all,
      }),
    }),
  }))
}
