import { FIELD_NAMES } from '../../formats/hatf/layout.js'
import type { Command, Flag } from '../command.js'
import { KEY_PLACE } from '../defaults.js'
import { OUTPUT_FLAGS } from '../flags.js'

/** Flags that must be the same for splitting and joining. */
const FIELD_FLAGS: readonly Flag[] = [
  {
    name: 'field',
    value: 'NAME',
    help: 'A field to take out, instead of address',
    repeat: true,
    values: FIELD_NAMES,
  },
  { name: 'encoded', help: 'Take out all bytes of the fields, encoded or not' },
]

export const hatfSplit: Command = {
  name: 'hatf-split',
  summary: 'move the addresses of a HATF trace to a file of their own',
  operands: '[FILE]',
  description:
    'Addresses compress better by themselves, and so does the remainder. Only addresses that are stored as they are ' +
    'go to the file, not those under the interpretations baseOffset, delta, stride or default. With --field, each ' +
    `field goes to a file of its own, named after -a with the field in place of ${KEY_PLACE}; of attributes, the ` +
    'lengths stay.\n' +
    'The remainder is not a valid HATF file; hatf-join restores the original byte for byte. hatf-encode ' +
    '--split-addr does the same in one file, in which damage is found.',
  memory: 'constant.',
  flags: [
    {
      name: 'addresses',
      short: 'a',
      value: 'FILE',
      help: 'Write the addresses to FILE; a name that ends in .gz or .zst is compressed',
    },
    ...FIELD_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    {
      command: 'hatf-split -a addresses.bin.gz app.hatf | xz > rest.xz',
      means: 'compress the addresses and the remainder separately',
    },
    {
      command: "hatf-split --field size --field address --field time -a '{}.bin' app.hatf -o rest.bin",
      means: 'sizes, addresses and times, each in a file of its own',
    },
  ],
  run: async (args) => (await import('./split-addresses.run.js')).runHatfSplit(args),
}

export const hatfJoin: Command = {
  name: 'hatf-join',
  summary: 'restore a HATF trace that hatf-split divided',
  operands: '[FILE]',
  description:
    'Reads what hatf-split wrote, and writes the original trace, byte for byte. Both inputs may be compressed. ' +
    '--field and --encoded must be as they were for hatf-split. Streams whose lengths do not fit together are an ' +
    'error.',
  memory: 'constant.',
  flags: [
    {
      name: 'addresses',
      short: 'a',
      value: 'FILE',
      help: `Read the addresses from FILE; with --field, ${KEY_PLACE} stands for the field`,
    },
    ...FIELD_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [{ command: 'hatf-join -a addresses.bin.gz rest.xz | hatf-decode', means: 'read a trace that was split' }],
  run: async (args) => (await import('./split-addresses.run.js')).runHatfJoin(args),
}
