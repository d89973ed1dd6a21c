import { ORDER_FIELDS } from '../../order/order-fields.js'
import { SORT_MEMORY } from '../../transforms/choices.js'
import type { Command } from '../command.js'
import { OUTPUT_FLAGS, STRICT_FLAG, TO_FLAG } from '../flags.js'

const MEGABYTE = 1_048_576

export const sort: Command = {
  name: 'hf-sort',
  summary: 'put the events of a trace in order',
  operands: '[FILE]',
  description:
    'The events are put in the order of a field, the smallest value first. Equal values keep their order. Events without the field stay behind the event before them; ' +
    'those before any that has it come first. Sequence numbers may wrap, so they must not jump by 2^31 or more. Where a stream has several traces, each is sorted on its own.\n' +
    'A trace that is larger than the memory allowed goes through a temporary file, as large as the events. It has no name, and is gone when the command ends, however it ends. ' +
    'Of a trace that is cut, what is there is sorted, and the exit code is 1.\n' +
    'hf-merge puts traces together that are in order already. The output is NDJSON unless --to or the name after -o says otherwise.',
  memory: 'the limit given, beside the constant amount that every command takes.',
  flags: [
    { name: 'by', value: 'FIELD', help: 'Order by this field (default time)', values: ORDER_FIELDS },
    {
      name: 'memory',
      value: 'SIZE',
      help: `Take about so much memory for sorting, such as 200M or 2G (default ${SORT_MEMORY / MEGABYTE}M)`,
    },
    {
      name: 'temporary',
      value: 'DIR',
      help: "Put the temporary file here (default: the system's folder for such files)",
    },
    ...OUTPUT_FLAGS,
    TO_FLAG,
    STRICT_FLAG,
  ],
  examples: [
    {
      command: 'replay-decode dump.txt | hf-sort --by time -o sorted.ndjson',
      means: 'a dump whose threads were written one after the other',
    },
    {
      command: 'hf-sort --by size --memory 1G --temporary /var/tmp big.mtrc | tail -n 20',
      means: 'the largest allocations of a trace that is larger than the memory',
    },
  ],
  run: async (args) => (await import('./sort.run.js')).runSort(args),
}
