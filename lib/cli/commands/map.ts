import { EVERY_FIELD } from '../../event/fields.js'
import { flag, type Command } from '../command.js'
import { EVENT_FLAGS } from '../flags.js'

const HIDDEN = ['addresses', 'names', 'all'] as const

export const map: Command = {
  name: 'hf-map',
  summary: 'change the events of a trace',
  operands: '[FILE]',
  description:
    'Changes are made in this order: the expression, rebasing, anonymizing, numbering of threads, dropped fields, ' +
    'set fields.\n' +
    'Anonymizing replaces each address from 4,096 on with another of the same alignment, up to 4,096 bytes, and each ' +
    'name with another one, also in the header, such as the command line; every run with the same --key gives the ' +
    'same replacements. Lower addresses, such as the null address, stay as they are.\n' +
    'Rebasing is an error, after the events before, where an address would become 0, which is that of failed calls, ' +
    'or leave 64 bits; 0 itself stays.\n' +
    'An expression is JavaScript that sees each event as `event` (64-bit fields are BigInt) and its number as `n`; ' +
    'changes to `event` take effect; if the result is false or null, the event is dropped; another object, or an ' +
    'array of objects, replaces it. Where it drops one of the first 4,096 events of a trace, the header says that ' +
    'events were removed, as that of hf-filter does (the beginning is held back until then); a warning counts those ' +
    'that are dropped later from a trace whose header does not say so. The expression runs with all rights of the ' +
    'command. If it ends the process, or throws after it has returned (from a timer or a promise), the output is ' +
    'incomplete and the exit status is 1.\n' +
    'The input may be in any format; the output is NDJSON unless --to or the name after -o says otherwise.',
  memory: 'constant; --number-threads keeps each thread id.',
  flags: [
    flag('--set FIELD=VALUE', 'Set a field of every event', { repeat: true }),
    flag('--drop FIELD', 'Drop a field', { repeat: true, values: EVERY_FIELD.map((field) => field.name) }),
    flag('--rebase FROM=TO', 'Move addresses so that what was at FROM is at TO'),
    flag('--anonymize WHAT', 'Replace what identifies the program and its machine', { values: HIDDEN }),
    flag('--key KEY', 'The secret that makes the replacements; needed with --anonymize, and only then'),
    flag('--number-threads', 'Number the threads of each trace from 1, in the order in which they appear'),
    flag('-e, --expression CODE', 'Run JavaScript on every event; slow'),
    ...EVENT_FLAGS,
  ],
  examples: {
    'hf-map --anonymize all --key "$SECRET" --number-threads app.mtrc -o shared.mtrc':
      'a trace to share with strangers',
    "replay-decode dump.txt | hf-map -e 'event.size &&= (event.size + 15n) & ~15n' | hatf-encode -o rounded.hatf":
      'what if all sizes were multiples of 16',
  },
  run: async (args) => (await import('./map.run.js')).runMap(args),
}
