import type { Format } from '../../formats/format.js'
import { ndjson } from '../../wire/ndjson/index.js'
import { optionFlags, optionValues, type Command, type Example } from '../command.js'
import { OUTPUT_FLAGS, runJob, STRICT_FLAG } from '../pipeline.js'

/** What a format's pair of commands says beyond what its descriptor knows. */
export interface FormatHelp {
  decode: { description: string; memory: string; examples: readonly Example[] }
  encode: { description: string; memory: string; examples: readonly Example[] }
}

/** `<format>-decode`: bytes of the format in, NDJSON out. */
export function decodeCommand(format: Format, help: FormatHelp['decode']): Command {
  const command: Command = {
    name: `${format.name}-decode`,
    summary: `read a trace (${format.title}) and write its events as lines of JSON`,
    operands: '[FILE]',
    ...help,
    flags: [...OUTPUT_FLAGS, ...optionFlags(format.decodeOptions)],
    run: (args) => runJob({ command: command.name, args, from: format, decode: optionValues(format.decodeOptions, args), to: ndjson }),
  }
  return command
}

/** `<format>-encode`: events in any form in, bytes of the format out. */
export function encodeCommand(format: Format, help: FormatHelp['encode']): Command {
  const command: Command = {
    name: `${format.name}-encode`,
    summary: `write events as a trace (${format.title})`,
    operands: '[FILE]',
    ...help,
    flags: [...OUTPUT_FLAGS, ...optionFlags(format.encodeOptions), STRICT_FLAG],
    run: (args) => runJob({ command: command.name, args, to: format, encode: optionValues(format.encodeOptions, args) }),
  }
  return command
}

