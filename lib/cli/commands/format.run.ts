import type { FormatEntry } from '../../formats/index.js'
import { ndjson } from '../../formats/ndjson/index.js'
import { optionValues, type Arguments } from '../command.js'
import { loadWritable, runJob } from '../pipeline.js'

/** Runs `<format>-decode`. @throws UsageError */
export async function runDecode(format: FormatEntry, args: Arguments): Promise<void> {
  const decode = optionValues(format.decodeOptions, args)
  await runJob({ command: `${format.name}-decode`, args, from: await format.load(), decode, to: ndjson })
}

/** Runs `<format>-encode`. @throws UsageError */
export async function runEncode(format: FormatEntry, args: Arguments): Promise<void> {
  const encode = optionValues(format.encodeOptions, args)
  await runJob({ command: `${format.name}-encode`, args, to: await loadWritable(format), encode })
}
