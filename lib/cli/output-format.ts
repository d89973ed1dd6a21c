import { fstatSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { TABLE_FORMATS } from '../exports/tables/formats.js'
import { isWritable, type WritableFormat } from '../event/format.js'
import { arrow, formatNamed, formatOfPath, ndjson, WRITABLE, type FormatEntry } from '../formats/index.js'
import { UsageError, type Arguments } from './command.js'

/** The environment variable with the format of events between commands. */
const WIRE = 'HEAPFLOW_WIRE'

const COMPRESSED = /\.(gz|zst)$/i
/** The ending of a name, not the whole name of a hidden file. */
const ENDING = /[^.](\.[a-z][\w-]*)$/i

/**
 * The format to write: `--to` or `--arrow`, else what the output's name says, else that of events between commands.
 * @throws UsageError, also for a name that ends like no format's
 */
export function outputFormat(args: Arguments, output: string): Promise<WritableFormat> {
  const named = namedFormat(args)
  const format = named ?? formatOfPath(output)
  if (format !== undefined) return loadWritable(format)
  const ending = ENDING.exec(basename(output).replace(COMPRESSED, ''))?.[1]
  if (ending !== undefined && !isDevice(output)) {
    const known = WRITABLE.flatMap(({ extensions }) => extensions.slice(0, 1)).join(', ')
    throw new UsageError(`no format has names that end in ${ending}, as ${known} do: name one with --to`)
  }
  return loadWritable(wireFormat(output))
}

/** The format in which a decoder's command writes events: lines of JSON, or Arrow. @throws UsageError */
export function decodedFormat(args: Arguments): Promise<WritableFormat> {
  const output = args.value('output') ?? '-'
  const isArrow = args.has('arrow') || formatOfPath(output) === arrow
  return loadWritable(isArrow ? arrow : wireFormat(output))
}

/** The format that flags name. @throws UsageError when there are two */
export function namedFormat(args: Arguments): FormatEntry | undefined {
  const to = args.value('to')
  if (!args.has('arrow')) return formatNamed(to ?? '')
  if (to !== undefined) throw new UsageError('--to and --arrow cannot be combined')
  return arrow
}

/** A format to write. @throws UsageError when it can only be read */
export async function loadWritable(entry: FormatEntry): Promise<WritableFormat> {
  const format = await entry.load()
  if (isWritable(format)) return format
  const names = WRITABLE.map(({ name }) => name).join(', ')
  throw new UsageError(`${format.name} (${format.title}) can only be read; formats to write are ${names}`)
}

/** The format of events between commands. Only a pipe has another one than lines of JSON. @throws UsageError */
function wireFormat(output: string): FormatEntry {
  const wire = process.env[WIRE] ?? ''
  if (!['', 'ndjson', 'arrow'].includes(wire))
    throw new UsageError(`the environment variable ${WIRE} must be ndjson or arrow, not ${JSON.stringify(wire)}`)
  return wire === 'arrow' && output === '-' && isPipe() ? arrow : ndjson
}

/** The format of a table, chosen as that of events. @throws UsageError */
export function tableFormat(args: Arguments, output: string): (typeof TABLE_FORMATS)[number] {
  const to = args.has('arrow') ? namedFormat(args)?.name : args.value('to')
  const name = output.replace(COMPRESSED, '').toLowerCase()
  const format =
    to === undefined
      ? TABLE_FORMATS.find(({ extensions }) => extensions.some((ending) => name.endsWith(ending)))
      : TABLE_FORMATS.find((one) => one.name === to)
  if (format !== undefined) return format
  if (ENDING.test(basename(name)) && !isDevice(output))
    throw new UsageError(`no format of tables has names like ${JSON.stringify(output)}: name one with --to`)
  return TABLE_FORMATS.find((one) => one.name === wireFormat(output).name) as (typeof TABLE_FORMATS)[number]
}

/** Whether this is a pipe or a device, whose name says nothing. */
function isDevice(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === false
}

function isPipe(): boolean {
  const stats = fstatSync(1)
  return stats.isFIFO() || stats.isSocket()
}
