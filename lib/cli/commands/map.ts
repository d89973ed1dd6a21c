import { FIELDS, type FieldName, type FieldType } from '../../event/fields.js'
import { Mapper, type MapOptions } from '../../transforms/map.js'
import { ndjson } from '../../wire/ndjson/index.js'
import { fieldFromJson } from '../../wire/ndjson/general.js'
import { integer, UsageError, type Arguments, type Command } from '../command.js'
import { OUTPUT_FLAGS, outputFormat, runJob, STRICT_FLAG, TO_FLAG } from '../pipeline.js'

const FIELD_NAMES = FIELDS.map((field) => field.name)
const HIDDEN = ['addresses', 'names', 'all'] as const

export const map: Command = {
  name: 'hf-map',
  summary: 'change the events of a trace',
  operands: '[FILE]',
  description:
    'Changes are made in this order: the expression, rebasing, anonymising, numbering of threads, dropped fields, set fields.\n' +
    'Anonymising replaces each address by another with the same alignment and each name by another, the same in every run with the same --key. ' +
    'An expression is JavaScript that sees each event as `event` (64-bit fields are BigInt) and its number as `n`; what it does to the event holds, and the event is ' +
    'left out if the result is false or null. The input may be in any format; the output is NDJSON unless --to or the name after -o says otherwise.',
  memory: 'constant; --number-threads keeps each thread id.',
  flags: [
    { name: 'set', value: 'FIELD=VALUE', help: 'Set a field of every event', repeat: true },
    { name: 'drop', value: 'FIELD', help: 'Leave a field out', repeat: true, values: FIELD_NAMES },
    { name: 'rebase', value: 'FROM=TO', help: 'Move addresses so that what was at FROM is at TO' },
    { name: 'anonymise', value: 'WHAT', help: 'Replace what tells of the program and its machine', values: HIDDEN },
    { name: 'key', value: 'KEY', help: 'The secret that makes the replacements; needed with --anonymise' },
    { name: 'number-threads', help: 'Number the threads from 1 in the order in which they appear' },
    { name: 'expression', short: 'e', value: 'CODE', help: 'Pass every event through JavaScript; slow' },
    ...OUTPUT_FLAGS,
    TO_FLAG,
    STRICT_FLAG,
  ],
  examples: [
    { command: 'hf-map --anonymise all --key "$SECRET" --number-threads app.mtrc -o shared.mtrc', means: 'a trace to share with strangers' },
    { command: "replay-decode dump.txt | hf-map -e 'event.size = (event.size + 15n) & ~15n' | hatf-encode -o rounded.hatf", means: 'what if all sizes were multiples of 16' },
  ],
  run: (args) => {
    const to = outputFormat(args, args.value('output') ?? '-', ndjson)
    let stage: Mapper
    try {
      stage = new Mapper(mapOptions(args))
    } catch (error) {
      throw new UsageError((error as Error).message, { cause: error })
    }
    return runJob({ command: 'hf-map', args, stages: [stage], to })
  },
}

/** What the flags ask for. @throws UsageError */
export function mapOptions(args: Arguments): MapOptions {
  const expression = args.value('expression')
  const rebase = args.value('rebase')
  const hidden = args.value('anonymise')
  const key = args.value('key')
  if (hidden !== undefined && key === undefined) throw new UsageError('--anonymise needs a --key')
  return {
    ...(expression !== undefined && { expression }),
    ...(rebase !== undefined && { rebase: readRebase(rebase) }),
    ...(hidden !== undefined && { anonymise: { key: key as string, addresses: hidden !== 'names', names: hidden !== 'addresses' } }),
    numberThreads: args.has('number-threads'),
    drop: args.all('drop') as FieldName[],
    set: Object.fromEntries(args.all('set').map(readSetting)),
  }
}

function readRebase(text: string): { from: bigint; to: bigint } {
  const [from, to, more] = text.split('=')
  if (from === undefined || to === undefined || more !== undefined) throw new UsageError('--rebase needs FROM=TO, such as 0x7f0000000000=0x10000')
  return { from: integer('rebase', from), to: integer('rebase', to) }
}

/** `FIELD=VALUE`, with the value as on the NDJSON wire but without quotes; frames of a stack are divided by bars. */
function readSetting(text: string): [string, unknown] {
  const at = text.indexOf('=')
  const field = FIELDS.find(({ name }) => name === text.slice(0, at))
  if (field === undefined) throw new UsageError(`--set needs FIELD=VALUE with one of the fields ${FIELD_NAMES.join(', ')}`)
  const value = text.slice(at + 1)
  try {
    return [field.name, fieldFromJson(field.name, field.type as FieldType, field.type === 'list' ? value.split('|') : value)]
  } catch (error) {
    throw new UsageError(`--set: ${(error as Error).message}`, { cause: error })
  }
}
