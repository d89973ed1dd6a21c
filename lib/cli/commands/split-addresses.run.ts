import { pipeline as connect, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { resolve } from 'node:path'
import { isatty } from 'node:tty'
import { FIELD_NAMES } from '../../formats/hatf/layout.js'
import type { HatfField } from '../../formats/hatf/split/tracks.js'
import { gzip } from '../../streams/compress.js'
import { decompress } from '../../streams/decompress.js'
import { isBrokenPipe } from '../../streams/failure.js'
import { joinStream, splitAddresses } from '../../streams/split-addresses.js'
import { isSameFile, openInput, openOutput } from '../../streams/io/stdio.js'
import { UsageError, type Arguments } from '../command.js'
import { KEY_PLACE } from '../defaults.js'
import { inputOperand, runStreams } from '../pipeline.js'

/** Runs `hatf-split`. @throws UsageError */
export async function runHatfSplit(args: Arguments): Promise<void> {
  const { fields, paths } = fieldFiles(args)
  const input = inputOperand(args)
  const outputs = [args.value('output') ?? '-', ...paths]
  for (const output of outputs) {
    if (isSameFile(input, output)) throw new UsageError(`${output} is the input too: write to another file`)
    if (output === '-' && isatty(1)) throw new UsageError('binary output is not for a terminal: use -o FILE or a pipe')
  }
  if (new Set(outputs.map((output) => (output === '-' ? '-' : resolve(output)))).size < outputs.length) {
    throw new UsageError('each output needs a name of its own')
  }
  const splitter = splitAddresses({ fields, encoded: args.has('encoded') })
  const sides = [splitter.main, ...splitter.streams.values()]
  // Every failure ends all of these; the first one is what it was.
  let failure: { error: unknown } | undefined
  const work = [
    runStreams('hatf-split', input, [], () => splitter),
    ...sides.map((side, i) => writeSide(side, outputs[i] as string, args.has('gzip'))),
  ]
  await Promise.all(
    work.map((job) =>
      job.catch((error: unknown) => {
        failure ??= { error }
        splitter.destroy(error as Error)
      }),
    ),
  )
  if (failure === undefined) return
  const { error } = failure
  if (!isBrokenPipe(error)) throw error
  throw new Error('the reader of an output went away before its end; the other outputs are incomplete', {
    cause: error,
  })
}

/** Runs `hatf-join`. @throws UsageError */
export async function runHatfJoin(args: Arguments): Promise<void> {
  const { fields, paths } = fieldFiles(args)
  const input = inputOperand(args)
  const output = args.value('output') ?? '-'
  if ([input, ...paths].filter((path) => path === '-').length > 1)
    throw new UsageError('only one input can be standard input')
  for (const path of [input, ...paths])
    if (isSameFile(path, output)) throw new UsageError(`${output} is an input too: write to another file`)
  if (output === '-' && isatty(1)) throw new UsageError('binary output is not for a terminal: use -o FILE or a pipe')
  const streams: Partial<Record<HatfField, Readable>> = {}
  fields.forEach((field, i) => (streams[field] = connect(openInput(paths[i] as string), decompress(), () => {})))
  const joined = joinStream(streams, { encoded: args.has('encoded') })
  const compressed = args.has('gzip') || output.endsWith('.gz')
  await runStreams('hatf-join', input, compressed ? [joined, gzip()] : [joined], () =>
    openOutput(output, { blocking: true }),
  )
}

/** Which fields, and the file of each. @throws UsageError */
function fieldFiles(args: Arguments): { fields: HatfField[]; paths: string[] } {
  const pattern = args.value('addresses')
  if (pattern === undefined) throw new UsageError('name the file of the addresses with -a')
  const fields = (args.value('fields') ?? 'address').split(',').map((name) => {
    const field = FIELD_NAMES.find((known) => known === name)
    if (field === undefined)
      throw new UsageError(`--fields knows ${FIELD_NAMES.join(', ')}, not ${JSON.stringify(name)}`)
    return field
  })
  // In the order in which the splitter has its sides.
  const named = FIELD_NAMES.filter((name) => fields.includes(name))
  if (named.length > 1 && !pattern.includes(KEY_PLACE)) {
    throw new UsageError(`with several fields, the name after -a needs ${KEY_PLACE} in it, for the field`)
  }
  return { fields: named, paths: named.map((name) => pattern.replaceAll(KEY_PLACE, name)) }
}

async function writeSide(side: Readable, output: string, compressed: boolean): Promise<void> {
  const sink = openOutput(output)
  await (compressed || output.endsWith('.gz') ? pipeline(side, gzip(), sink) : pipeline(side, sink))
}
