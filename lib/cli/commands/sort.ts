import { MIB } from '../../bytes/units.js'
import { ORDER_FIELDS } from '../../order/order-fields.js'
import { SORT_MEMORY } from '../../transforms/option-values.js'
import { flag, type Command } from '../command.js'
import { EVENT_FLAGS } from '../flags.js'

export const sort: Command = {
  name: 'hf-sort',
  summary: 'sort the events of a trace',
  operands: '[FILE]',
  description:
    'The events are sorted by a field, the smallest value first. Ties keep their order. Events without the field ' +
    'stay after their predecessor; those before any event that has it come first. Sequence numbers may wrap, so ' +
    'they must not jump by 2^31 or more. If a stream holds several traces, each is sorted on its own.\n' +
    'A trace that is larger than the memory allowed goes through a temporary file, as large as the events. It has ' +
    'no name, and is gone when the command ends, however it ends. If the trace is truncated, what was read is ' +
    'sorted, and the exit status is 1.\n' +
    'To put traces together that are in order already, use hf-merge. The output is NDJSON unless --to or the name ' +
    'after -o says otherwise.',
  memory: 'the limit given, in addition to the constant amount that every command takes.',
  flags: [
    flag('--by FIELD', 'Order by this field (default time)', { values: ORDER_FIELDS }),
    flag(
      '--memory SIZE',
      `Use about this much memory for sorting (for example 200M or 2G; default ${SORT_MEMORY / MIB}M)`,
    ),
    flag('--temporary DIR', "Put the temporary file here (default: the system's folder for such files)"),
    ...EVENT_FLAGS,
  ],
  examples: {
    'replay-decode dump.txt | hf-sort --by time -o sorted.ndjson': 'a dump that has its threads one after the other',
    'hf-filter --kind alloc big.mtrc | hf-sort --by size --memory 1G --temporary /var/tmp | tail -n 20':
      'the largest allocations of a trace that is larger than the memory',
  },
  run: async (args) => (await import('./sort.run.js')).runSort(args),
}
