import { OUTPUT_FLAGS } from '../flags.js'
import { flag, type Command } from '../command.js'

export const metatfCompile: Command = {
  name: 'metatf-compile',
  summary: 'generate a TypeScript or JavaScript module from a Meta-TF definition',
  operands: 'FILE',
  description:
    'The module has the types of all records, and a reader and writer as streams (decode, encode) and without ' +
    'streams (decoder, encoder). They read and write exactly what metatf-decode and metatf-encode do with that ' +
    'definition, and as fast: those generate the same code when they run. Use a module for its types, or where ' +
    'Node.js runs with --disallow-code-generation-from-strings. It imports only heapflow, of the same version. A ' +
    'FILE without a folder is also looked for where metatf-decode looks.',
  flags: [
    {
      ...OUTPUT_FLAGS[0],
      help: 'Write to FILE instead of standard output; a name that ends in .js or .mjs makes JavaScript',
    },
    flag('--language NAME', 'Write in this language, whatever the output is called (default ts)', {
      values: ['ts', 'js'],
    }),
  ],
  memory: 'constant.',
  examples: {
    'metatf-compile my.dtd -o my.ts': 'a reader and writer for a format of your own',
    'metatf-compile --language js hatf10.dtd > hatf10.mjs': 'the same for the HATF of the paper, in JavaScript',
  },
  run: async (args) => (await import('./metatf-compile.run.js')).runCompile(args),
}
