import { pipeline as connect, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { nameInput } from '../../event/error.js'
import { FIELD_NAMES } from '../../formats/hatf/layout.js'
import type { HatfField } from '../../formats/hatf/split/tracks.js'
import { closed } from '../../streams/closed.js'
import { compressor } from '../../streams/compress.js'
import { isBrokenPipe } from '../../streams/broken-pipe.js'
import { isSameOutput } from '../../streams/io/output-place.js'
import { openOutput } from '../../streams/io/stdio.js'
import { joinStream, splitAddresses } from '../../streams/split-addresses.js'
import { Incomplete, UsageError, type Arguments } from '../command.js'
import { KEY_PLACE } from '../defaults.js'
import { inputOperand, refuseSharedPipe, type Streams } from '../input.js'
import { outputOf, type Output } from '../output.js'
import { bytesOf, runStreams } from '../streaming.js'

/** Runs `hatf-split`. @throws UsageError */
export async function runHatfSplit(args: Arguments): Promise<void> {
  const { fields, paths } = fieldFiles(args)
  const input = inputOperand(args)
  const outputs = [args.value('output') ?? '-', ...paths].map((path) => outputOf(args, [input], true, path))
  if (outputs.some(({ path }, i) => outputs.slice(0, i).some((other) => isSameOutput(path, other.path))))
    throw new UsageError('each output needs a name of its own')
  const splitter = splitAddresses({ fields, encoded: args.has('encoded') })
  const sides = [splitter.main, ...splitter.streams.values()]
  // A failure ends all of these; the first one is the cause.
  let failure: { error: unknown } | undefined
  const partial: string[] = []
  const work = [
    runStreams(
      'hatf-split',
      [input],
      () => bytesOf(input),
      () => splitter,
    ),
    ...sides.map((side, i) => writeSide(side, outputs[i], partial)),
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
  const error = isBrokenPipe(failure.error)
    ? new Error('the reader of an output closed it before its end; the other outputs are not complete')
    : failure.error
  throw partial.length > 0 ? new Incomplete(error, partial) : error
}

/** Runs `hatf-join`. @throws UsageError */
export async function runHatfJoin(args: Arguments): Promise<void> {
  const { fields, paths } = fieldFiles(args)
  const input = inputOperand(args)
  refuseSharedPipe([input, ...paths])
  const { path, compression } = outputOf(args, [input, ...paths], true)
  const open = (): Streams => {
    const streams: Partial<Record<HatfField, Readable>> = {}
    fields.forEach((field, i) => (streams[field] = side(paths[i])))
    return [
      ...bytesOf(input),
      joinStream(streams, { encoded: args.has('encoded') }),
      ...(compression ? [compressor(compression)] : []),
    ]
  }
  await runStreams('hatf-join', [input], open, () => openOutput(path, { blocking: true }))
}

/** The bytes of a file that is read beside the main one; its errors name it. */
function side(path: string): Readable {
  const [source, ...streams] = bytesOf(path)
  const stream = connect([source, ...streams], () => {}) as unknown as Readable
  return stream.on('error', (error) => nameInput(error, path))
}

/** Which fields, and the file of each. @throws UsageError */
function fieldFiles(args: Arguments): { fields: HatfField[]; paths: string[] } {
  const pattern = args.value('addresses')
  if (pattern === undefined) throw new UsageError('name the file of the addresses with -a')
  const given = args.all('field')
  // In the order in which the splitter has its sides.
  const fields = FIELD_NAMES.filter((name) => (given.length === 0 ? ['address'] : given).includes(name))
  if (fields.length > 1 && !pattern.includes(KEY_PLACE))
    throw new UsageError(`with several fields, the name after -a needs ${KEY_PLACE} in it, for the field`)
  return { fields, paths: fields.map((name) => pattern.replaceAll(KEY_PLACE, name)) }
}

/** @param partial receives the name of an incomplete file */
async function writeSide(from: Readable, { path, compression }: Output, partial: string[]): Promise<void> {
  const sink = openOutput(path)
  try {
    await (compression ? pipeline(from, compressor(compression), sink) : pipeline(from, sink))
  } catch (error) {
    await closed(sink)
    if (sink.partial !== undefined) partial.push(sink.partial)
    throw error
  }
}
