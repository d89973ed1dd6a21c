import { fstatSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { targetNamed, targetOfPath, targets, type Target, type TargetEntry } from '../exports/targets.js'
import { arrow, formatOfPath, ndjson, type FormatEntry } from '../formats/index.js'
import { isPipe } from '../streams/io/file-status.js'
import { UsageError, type Arguments } from './command.js'

/** The environment variable with the format of events between commands. */
const WIRE = 'HEAPFLOW_WIRE'

/** The ending of the name of a compressed file. */
export const COMPRESSED = /\.(gz|zst)$/i
/** The ending of a name, not the whole name of a hidden file. */
export const ENDING = /[^.](\.[a-z][\w-]*)$/i

/**
 * The format to write: by `--to` or `--arrow`, otherwise by the output's name, otherwise the format between commands.
 * @param own the endings of names of what the command writes in another way
 * @throws UsageError, also for a name with an unknown ending
 */
export function outputFormat(
  args: Arguments,
  output = args.value('output') ?? '-',
  own: readonly string[] = [],
): Promise<Target> {
  const named = namedFormat(args)
  refuseArrow(args, targetOfPath(output)?.name, output)
  const format = named ?? targetOfPath(output)
  if (format !== undefined) return loadWritable(format)
  const ending = ENDING.exec(basename(output).replace(COMPRESSED, ''))?.[1]
  if (ending !== undefined && !isDevice(output)) {
    const known = [...targets().flatMap(({ extensions }) => extensions.slice(0, 1)), ...own]
    throw new UsageError(`no format has names that end in ${ending}, as ${known.join(', ')} do: ${advice(ending)}`)
  }
  return loadWritable(wireFormat(output))
}

/**
 * The advice of a message for an ending that no writable format has. The endings of Arrow's files are not such endings.
 */
export function advice(ending: string): string {
  return ['.arrow', '.feather'].includes(ending.toLowerCase())
    ? 'Arrow is written as a stream, to a name that ends in .arrows (Arrow files are only read)'
    : 'name one with --to'
}

/** The format in which a decoder's command writes events: lines of JSON, or Arrow. @throws UsageError */
export function decodedFormat(args: Arguments): Promise<Target> {
  const output = args.value('output') ?? '-'
  refuseArrow(args, targetOfPath(output)?.name, output)
  const isArrow = args.has('arrow') || formatOfPath(output) === arrow
  return loadWritable(isArrow ? arrow : wireFormat(output))
}

/** The format that flags name. @throws UsageError when there are two */
export function namedFormat(args: Arguments): TargetEntry | undefined {
  const to = args.value('to')
  if (!args.has('arrow')) return targetNamed(to ?? '')
  if (to !== undefined) throw new UsageError('--to and --arrow cannot be combined')
  return arrow
}

/** @param named the format that the output's name says @throws UsageError when that is another one than `--arrow` */
export function refuseArrow(args: Arguments, named: string | undefined, output: string): void {
  if (!args.has('arrow') || named === undefined || named === arrow.name) return
  throw new UsageError(`--arrow and the name ${output} of a file in the format ${named} cannot be combined`)
}

/** A format to write. @throws UsageError when it can only be read */
export async function loadWritable(entry: TargetEntry): Promise<Target> {
  const format = await entry.load()
  if ('encoder' in format) return format
  const names = targets()
    .map(({ name }) => name)
    .join(', ')
  throw new UsageError(`${format.name} (${format.title}) can only be read; formats to write are ${names}`)
}

/** The format of events between commands. Only a pipe has another one than lines of JSON. @throws UsageError */
export function wireFormat(output: string): FormatEntry {
  const wire = process.env[WIRE] ?? ''
  if (!['', 'ndjson', 'arrow'].includes(wire))
    throw new UsageError(`the environment variable ${WIRE} must be ndjson or arrow, not ${JSON.stringify(wire)}`)
  return wire === 'arrow' && output === '-' && isPipe(fstatSync(1)) ? arrow : ndjson
}

/** Whether this is a pipe or a device, whose name says nothing. */
export function isDevice(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === false
}
