import type { FormatEntry } from '../../formats/index.js'
import { checkDecodeOptions } from '../../event/format.js'
import { optionValues, orFlagError, type Arguments } from '../command.js'
import { inputOperand, traceInput } from '../input.js'
import { decodedFormat, loadWritable } from '../output-format.js'
import { runJob } from '../pipeline.js'

/** Runs `<format>-decode`. @throws UsageError */
export async function runDecode(format: FormatEntry, args: Arguments): Promise<void> {
  const decode = optionValues(format.decodeOptions, args)
  orFlagError(decode, () => checkDecodeOptions(format, decode, ''))
  const input = traceInput(inputOperand(args), { format: await format.load(), decode })
  await runJob({ command: `${format.name}-decode`, args, input, to: await decodedFormat(args) })
}

/** Runs `<format>-encode`. @throws UsageError */
export async function runEncode(format: FormatEntry, args: Arguments): Promise<void> {
  const encode = optionValues(format.encodeOptions, args)
  await runJob({
    command: `${format.name}-encode`,
    args,
    input: traceInput(inputOperand(args)),
    to: await loadWritable(format),
    encode,
  })
}
