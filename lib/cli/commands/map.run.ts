import { EVERY_FIELD, type FieldName } from '../../event/fields.js'
import { Mapper, type MapOptions } from '../../transforms/map.js'
import { fieldFromJson } from '../../event/json-record.js'
import { integer, orUsageError, UsageError, type Arguments } from '../command.js'
import { inputOperand, traceInput } from '../input.js'
import { outputFormat } from '../output-format.js'
import { runJob } from '../pipeline.js'

/** The ids that some formats have as signed integers. */
const SIGNED_IDS: readonly string[] = ['thread', 'process', 'heap']

/** Runs `hf-map`. @throws UsageError */
export async function runMap(args: Arguments): Promise<void> {
  const to = await outputFormat(args)
  const stage = orUsageError(() => new Mapper(mapOptions(args)))
  await runJob({ command: 'hf-map', args, input: traceInput(inputOperand(args)), stages: [stage], to })
}

/** The options that the flags give. @throws UsageError */
function mapOptions(args: Arguments): MapOptions {
  const expression = args.value('expression')
  const rebase = args.value('rebase')
  const hidden = args.value('anonymize')
  const key = args.value('key')
  if (hidden !== undefined && key === undefined) throw new UsageError('--anonymize needs a --key')
  // Without it, nothing is replaced in a trace that is meant to be shared.
  if (hidden === undefined && key !== undefined)
    throw new UsageError('--key needs --anonymize, such as --anonymize all')
  return {
    ...(expression !== undefined && { expression }),
    ...(rebase !== undefined && { rebase: readRebase(rebase) }),
    ...(hidden !== undefined && {
      anonymize: { key: key as string, addresses: hidden !== 'names', names: hidden !== 'addresses' },
    }),
    numberThreads: args.has('number-threads'),
    drop: args.all('drop') as FieldName[],
    set: Object.fromEntries(args.all('set').map(readSetting)),
  }
}

function readRebase(text: string): { from: bigint; to: bigint } {
  const [from, to, more] = text.split('=')
  if (from === undefined || to === undefined || more !== undefined)
    throw new UsageError('--rebase needs FROM=TO, such as 0x7f0000000000=0x10000')
  return { from: integer('rebase', from), to: integer('rebase', to) }
}

/** `FIELD=VALUE`, with the value as on the NDJSON wire but without quotes; frames of a stack are divided by bars. */
function readSetting(text: string): [string, unknown] {
  const at = text.indexOf('=')
  const field = EVERY_FIELD.find(({ name }) => name === text.slice(0, at))
  if (field === undefined)
    throw new UsageError(
      `--set needs FIELD=VALUE with one of the fields ${EVERY_FIELD.map(({ name }) => name).join(', ')}`,
    )
  const value = text.slice(at + 1)
  // As for hf-filter, negative ids are 64-bit two's complement.
  if (SIGNED_IDS.includes(field.name) && value.startsWith('-'))
    return [field.name, BigInt.asUintN(64, integer('set', value))]
  const given = field.type === 'list' ? value.split('|') : value
  return [field.name, orUsageError(() => fieldFromJson(field.name, field.type, given), '--set: ')]
}
