import { FIELD_NAMES } from '../../formats/hatf/layout.js'
import type { Command, Flag } from '../command.js'
import { KEY_PLACE } from '../defaults.js'
import { OUTPUT_FLAGS } from '../flags.js'

/** Flags that must be the same for taking out and putting back. */
const FIELD_FLAGS: readonly Flag[] = [
  {
    name: 'fields',
    value: 'LIST',
    help: `The fields, with commas between them, instead of address: ${FIELD_NAMES.join(', ')}`,
  },
  { name: 'encoded', help: 'Fields with all that is stored of them, encoded or not' },
]

export const hatfSplit: Command = {
  name: 'hatf-split',
  summary: 'take the addresses out of a HATF trace, into a file of their own',
  operands: '[FILE]',
  description:
    'Addresses compress better by themselves, and so does what is left. Taken out are addresses that are stored as they are, not those ' +
    'under the interpretations baseOffset, delta, stride or default. With --fields, each of the fields goes into a file of its own, named ' +
    `after -a with the field in the place of ${KEY_PLACE}; of attributes, the lengths stay.\n` +
    'The rest is no HATF by itself: hatf-join puts it together again, byte for byte. hatf-encode --split-addr does the same in one file, ' +
    'in which damage is found.',
  memory: 'constant.',
  flags: [
    {
      name: 'addresses',
      short: 'a',
      value: 'FILE',
      help: 'Write the addresses to FILE; a name that ends in .gz is compressed',
    },
    ...FIELD_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    {
      command: 'hatf-split -a addresses.bin.gz app.hatf | xz > rest.xz',
      means: 'compress addresses and all else each by itself',
    },
    {
      command: "hatf-split --fields size,address,time -a '{}.bin' app.hatf -o rest.bin",
      means: 'sizes, addresses and times, each in a file',
    },
  ],
  run: async (args) => (await import('./split-addresses.run.js')).runHatfSplit(args),
}

export const hatfJoin: Command = {
  name: 'hatf-join',
  summary: 'put back what hatf-split has taken out of a HATF trace',
  operands: '[FILE]',
  description:
    'Reads what hatf-split left and the addresses it took out, and writes the trace as it was, byte for byte. Both may be compressed. ' +
    '--fields and --encoded must be as they were for hatf-split. Streams that are not of the same length are an error.',
  memory: 'constant.',
  flags: [
    {
      name: 'addresses',
      short: 'a',
      value: 'FILE',
      help: `Read the addresses from FILE; with --fields, ${KEY_PLACE} stands for the field`,
    },
    ...FIELD_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    { command: 'xz -dc rest.xz | hatf-join -a addresses.bin.gz | hatf-decode', means: 'read a trace that was split' },
  ],
  run: async (args) => (await import('./split-addresses.run.js')).runHatfJoin(args),
}
