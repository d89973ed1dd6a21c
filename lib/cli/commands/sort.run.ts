import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { MIB } from '../../bytes/units.js'
import { sort, type SortOptions } from '../../streams/sort.js'
import type { OrderField } from '../../order/order-fields.js'
import { SORT_MEMORY } from '../../transforms/option-values.js'
import { sizeOf, UsageError, type Arguments } from '../command.js'
import { inputOperand } from '../input.js'
import { outputFormat } from '../output-format.js'
import { runJob } from '../pipeline.js'
import { heldInput } from '../streaming.js'

/** Runs `hf-sort`. @throws UsageError */
export async function runSort(args: Arguments): Promise<void> {
  const options = sortOptions(args)
  const to = await outputFormat(args)
  await runJob({ command: 'hf-sort', args, input: heldInput(inputOperand(args), () => sort(options)), to })
}

/** The options that the flags give. @throws UsageError */
function sortOptions(args: Arguments): SortOptions {
  const folder = args.value('temporary') ?? tmpdir()
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats?.isDirectory() !== true) throw new UsageError(`--temporary: ${folder} is not a folder`)
  return { by: (args.value('by') ?? 'time') as OrderField, memory: sizeOf(args, 'memory', MIB) ?? SORT_MEMORY, folder }
}
