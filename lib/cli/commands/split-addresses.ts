import { FIELD_NAMES } from '../../formats/hatf/layout.js'
import { flag, type Command, type Flag } from '../command.js'
import { KEY_PLACE } from '../defaults.js'
import { OUTPUT_FLAGS } from '../flags.js'

/** Flags that must be the same for splitting and joining. */
const FIELD_FLAGS: readonly Flag[] = [
  flag('--field NAME', 'A field to take out, instead of address', { repeat: true, values: FIELD_NAMES }),
  flag('--encoded', 'Take out all bytes of the fields, encoded or not'),
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
    flag('-a, --addresses FILE', 'Write the addresses to FILE; a name that ends in .gz or .zst is compressed'),
    ...FIELD_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: {
    'hatf-split -a addresses.bin.gz app.hatf | xz > rest.xz': 'compress the addresses and the remainder separately',
    "hatf-split --field size --field address --field time -a '{}.bin' app.hatf -o rest.bin":
      'sizes, addresses and times, each in a file of its own',
  },
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
    flag('-a, --addresses FILE', `Read the addresses from FILE; with --field, ${KEY_PLACE} stands for the field`),
    ...FIELD_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: {
    'hatf-join -a addresses.bin.gz rest.xz | hatf-decode': 'read a trace that was split',
  },
  run: async (args) => (await import('./split-addresses.run.js')).runHatfJoin(args),
}
