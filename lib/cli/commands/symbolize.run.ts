import { statSync } from 'node:fs'
import { symbolize, type SymbolizeOptions } from '../../streams/symbolize.js'
import { UsageError, type Arguments } from '../command.js'
import { inputOperand } from '../input.js'
import { outputFormat } from '../output-format.js'
import { runJob } from '../pipeline.js'
import { heldInput } from '../streaming.js'

/** Runs `hf-symbolize`. @throws UsageError */
export async function runSymbolize(args: Arguments): Promise<void> {
  for (const folder of args.all('debug-dir')) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new UsageError(`--debug-dir: ${folder} is not a folder`)
  }
  const tool = args.value('tool') as SymbolizeOptions['tool']
  const options: SymbolizeOptions = {
    debugDirs: args.all('debug-dir'),
    buildIds: Object.fromEntries(args.all('build-id').map(buildIdOf)),
    ...(tool !== undefined && { tool }),
  }
  const to = await outputFormat(args)
  await runJob({ command: 'hf-symbolize', args, input: heldInput(inputOperand(args), () => symbolize(options)), to })
}

/** `MODULE=ID`. @throws UsageError */
function buildIdOf(text: string): [string, string] {
  const [, module, id] = /^(.+)=((?:[0-9a-fA-F]{2})+)$/s.exec(text) ?? []
  if (module === undefined || id === undefined)
    throw new UsageError(`--build-id needs MODULE=ID, with the id in hexadecimal, not ${JSON.stringify(text)}`)
  return [module, id]
}
