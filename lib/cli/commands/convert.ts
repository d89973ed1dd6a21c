import type { Command } from '../command.js'
import { conversionFlags } from '../convert-options.js'
import { FROM_FLAG, OUTPUT_FLAGS, STRICT_FLAG, TO_FLAGS } from '../flags.js'

export const convert: Command = {
  name: 'hf-convert',
  summary: 'convert a trace from any format to any other',
  operands: '[FROM [TO]]',
  description:
    'The format of FROM is recognized by its first bytes, that of TO by its name, unless --to gives it. Either may ' +
    'be - for standard input or output. TO may also be given with -o; with --to or -u it may be absent, and without ' +
    'operands standard input is read. gzip, zstd, xz and zip are decompressed, and a TO that ends in .gz or .zst is ' +
    'compressed.\n' +
    'A TO that ends in .c, or --to c, is a program in C that makes the calls of the trace: docs/allocators.md.\n' +
    'Fields and events that the target format cannot represent are dropped and counted on standard error.',
  memory:
    'constant; some formats grow with the live blocks: mpatrol indices (as source or target) by 60 to 150 bytes ' +
    'each, the target heaptrack by 35 to 125, the target compact by 90 to 250, the target c by 50 to 150.',
  flags: [...TO_FLAGS, FROM_FLAG, ...OUTPUT_FLAGS, STRICT_FLAG, ...conversionFlags()],
  examples: {
    'hf-convert app.mtrc app.hatf': 'mpatrol to HATF',
    'hf-convert app.mtrc calls.c': 'a program in C that makes the same calls',
    'hf-convert dump.zip --to ndjson | jq -c .': 'look at an Android dump as it was shipped',
  },
  run: async (args) => (await import('./convert.run.js')).runConvert(args),
}
