import type { FormatEntry } from '../../formats/index.js'
import { optionFlags, type Command } from '../command.js'
import { ARROW_FLAG, OUTPUT_FLAGS, STRICT_FLAG } from '../flags.js'

/** What the help of a format's commands says in addition to its descriptor. */
interface FormatHelp {
  decode: { description: string; memory: string; examples: Command['examples'] }
  encode: { description: string; memory: string; examples: Command['examples'] }
}

/** `<format>-decode`: bytes of the format in, NDJSON out. */
export function decodeCommand(format: FormatEntry, help: FormatHelp['decode']): Command {
  return {
    name: `${format.name}-decode`,
    summary: `decode ${format.title} to lines of JSON`,
    operands: '[FILE]',
    ...help,
    flags: [...OUTPUT_FLAGS, ARROW_FLAG, ...optionFlags(format.decodeOptions)],
    run: async (args) => (await import('./format.run.js')).runDecode(format, args),
  }
}

/** `<format>-encode`: events in any form in, bytes of the format out. */
export function encodeCommand(format: FormatEntry, help: FormatHelp['encode']): Command {
  return {
    name: `${format.name}-encode`,
    summary: `encode events as ${format.title}`,
    operands: '[FILE]',
    ...help,
    flags: [...OUTPUT_FLAGS, ...optionFlags(format.encodeOptions), STRICT_FLAG],
    run: async (args) => (await import('./format.run.js')).runEncode(format, args),
  }
}
