import { basename } from 'node:path'
import { TABLE_FORMATS } from '../exports/tables/formats.js'
import { UsageError, type Arguments } from './command.js'
import { advice, COMPRESSED, ENDING, isDevice, namedFormat, wireFormat } from './output-format.js'

/** The format of a table, chosen as that of events. @throws UsageError */
export function tableFormat(args: Arguments, output: string): (typeof TABLE_FORMATS)[number] {
  const to = args.has('arrow') ? namedFormat(args)?.name : args.value('to')
  const name = output.replace(COMPRESSED, '').toLowerCase()
  const format =
    to === undefined
      ? TABLE_FORMATS.find(({ extensions }) => extensions.some((ending) => name.endsWith(ending)))
      : TABLE_FORMATS.find((one) => one.name === to)
  if (format !== undefined) return format
  const ending = ENDING.exec(basename(name))?.[1]
  if (ending !== undefined && !isDevice(output)) {
    const known = TABLE_FORMATS.flatMap(({ extensions }) => extensions).join(', ')
    throw new UsageError(`no format of tables has names that end in ${ending}, as ${known} do: ${advice(ending)}`)
  }
  return TABLE_FORMATS.find((one) => one.name === wireFormat(output).name) as (typeof TABLE_FORMATS)[number]
}
