import { basename } from 'node:path'
import { TABLE_FORMATS } from '../exports/tables/formats.js'
import { UsageError, type Arguments } from './command.js'
import { advice, COMPRESSED, ENDING, isDevice, namedFormat, refuseArrow, wireFormat } from './output-format.js'

type TableFormat = (typeof TABLE_FORMATS)[number]

/** The format of a table, chosen like the format of events. @throws UsageError */
export function tableFormat(args: Arguments, output: string): TableFormat {
  refuseArrow(args, formatOfName(output)?.name, output)
  const to = args.has('arrow') ? namedFormat(args)?.name : args.value('to')
  if (to === undefined) return namedTableFormat(output) ?? (formatCalled(wireFormat(output).name) as TableFormat)
  return formatCalled(to) ?? (formatCalled(wireFormat(output).name) as TableFormat)
}

/**
 * The format that the name of a file says; undefined for one without an ending, standard output and devices.
 * @param help the advice for another ending
 * @throws UsageError for another ending
 */
export function namedTableFormat(output: string, help: (ending: string) => string = advice): TableFormat | undefined {
  const format = formatOfName(output)
  if (format !== undefined) return format
  const ending = ENDING.exec(basename(plainName(output)))?.[1]
  if (ending === undefined || isDevice(output)) return undefined
  const known = TABLE_FORMATS.flatMap(({ extensions }) => extensions).join(', ')
  throw new UsageError(`no format of tables has names that end in ${ending}, as ${known} do: ${help(ending)}`)
}

function plainName(output: string): string {
  return output.replace(COMPRESSED, '').toLowerCase()
}

function formatOfName(output: string): TableFormat | undefined {
  const name = plainName(output)
  return TABLE_FORMATS.find(({ extensions }) => extensions.some((ending) => name.endsWith(ending)))
}

function formatCalled(name: string): TableFormat | undefined {
  return TABLE_FORMATS.find((one) => one.name === name)
}
