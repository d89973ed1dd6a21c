import { ARROW_FLAG, OUTPUT_FLAGS, STRICT_FLAG } from '../flags.js'
import { flag, optionFlags, type Command, type Flag } from '../command.js'
import { LAST_LINE } from '../../text/last-line.js'

const ORDERS = ['big', 'little']

const DTD_FLAG: Flag = flag(
  '--dtd FILE',
  'The definition of the format; a name without a folder is also looked for in --dtd-path, HEAPFLOW_DTD_PATH, and ' +
    'among the DTDs of heapflow',
)

const DTD_PATH_FLAG: Flag = flag('--dtd-path DIR', 'Look for DTDs in DIR, before the folders of HEAPFLOW_DTD_PATH', {
  repeat: true,
})

export const metatfDecode: Command = {
  name: 'metatf-decode',
  summary: 'decode a trace by its Meta-TF definition to lines of JSON',
  operands: '[FILE]',
  description:
    'Reads traces in binary, with or without a header (Meta-TF 1.0), and in ASCII (1.2). The definition, a DTD, is ' +
    'the one after --dtd, or else the one that the header of the trace names. That is looked for beside the trace ' +
    '(in the current folder for standard input), in the folders after --dtd-path, in those of the environment ' +
    'variable HEAPFLOW_DTD_PATH (with colons between them), and among the DTDs that come with heapflow. It is never ' +
    'fetched from the network: only the last part of a URL or an absolute path counts. Other commands find the DTD ' +
    'in the same way, so they read traces with a header as they are.\n' +
    'Records whose names say so (alloc, free, realloc ...) are events of that kind, all others are of kind "other"; ' +
    'values that the event model has no name for are in their "fields".\n' +
    'Tables that records take their values from may be anywhere in a FILE. In standard input or compressed files, ' +
    'they must come before the records that need them.',
  flags: [
    ...OUTPUT_FLAGS,
    ARROW_FLAG,
    DTD_FLAG,
    DTD_PATH_FLAG,
    flag('--headerless', 'The trace has no header, whatever its first bytes look like; needs --dtd'),
    flag('--byte-order ORDER', 'Byte order of a binary trace without a header, if it is not big', { values: ORDERS }),
    flag('--buffer BYTES', 'The most of a table that may come before the records that need it (default 64M)'),
    ...optionFlags(LAST_LINE),
  ],
  memory:
    'constant, except for tables that come before the records that need them in standard input or compressed files ' +
    '(see --buffer).',
  examples: {
    'metatf-decode app.mtf | head -n 3': 'look at a trace whose DTD is beside it',
    'metatf-decode --dtd hatf10.dtd app.trace | jq -c \'select(.kind == "other")\'':
      'the records of a trace that are not events',
  },
  run: async (args) => (await import('./metatf.run.js')).runDecode(args),
}

export const metatfEncode: Command = {
  name: 'metatf-encode',
  summary: 'encode events by a Meta-TF definition',
  operands: '[FILE]',
  description:
    'The input may be the lines that another command wrote, or a trace in any other format. A DTD of Meta-TF 1.0 ' +
    'makes a binary trace, one of 1.2 a trace in ASCII. What a trace decodes to comes back byte for byte, if it is ' +
    'in the canonical form. If a value does not fit the width that the DTD gives its field, a record of metadata ' +
    'that makes the field wider is written first. What the DTD has no record or field for is counted on standard ' +
    'error.',
  flags: [
    ...OUTPUT_FLAGS,
    { ...DTD_FLAG, help: `${DTD_FLAG.help}; needed` },
    DTD_PATH_FLAG,
    flag('--ascii', 'Write ASCII; needs a DTD of 1.2, which makes ASCII anyway'),
    flag(
      '--name NAME',
      'What the trace calls the DTD, such as a URL (default: as the trace that was read, if by a DTD of the same ' +
        'file name; else that file name)',
    ),
    flag('--header', 'Binary: begin with a header, also if the trace that was read had none'),
    flag('--headerless', 'Binary: leave out the header, which names the DTD'),
    flag('--byte-order ORDER', 'Binary: byte order of numbers (default: as the trace that was read, else big)', {
      values: ORDERS,
    }),
    flag(
      '--address-size BITS',
      'Binary: the size of addresses in the header (default: as the trace that was read, else 64)',
      { values: ['32', '64'] },
    ),
    flag(
      '--contiguous',
      'Binary: write each table in a part of its own, before the records; takes memory for the whole trace',
    ),
    flag('--interleaved', 'Binary: write tables among the records, even if the trace that was read had them apart'),
    flag(
      '--window N',
      'Binary, with tables: write the table entries of N records before these (default and maximum: 4096)',
    ),
    flag('--latency', 'Binary, with tables: do not wait for a window of records, for live input'),
    STRICT_FLAG,
  ],
  memory: 'constant; with --contiguous it holds the whole trace.',
  examples: {
    'metatf-encode --dtd hatf10.dtd app.mtrc -o app.mtf': 'an mpatrol trace in HATF as its authors define it',
    'replay-decode dump.zip | metatf-encode --dtd my.dtd | metatf-decode --dtd my.dtd | hf-stats':
      'through a format of your own and back',
  },
  run: async (args) => (await import('./metatf.run.js')).runEncode(args),
}
