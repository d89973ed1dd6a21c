import type { Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isatty } from 'node:tty'
import type { BatchTransform } from '../event/stage.js'
import type { Format } from '../formats/format.js'
import { FORMATS, formatOfPath } from '../registry.js'
import { gzip } from '../streams/compress.js'
import { decodeAny } from '../streams/decode.js'
import { decompress } from '../streams/decompress.js'
import { encoderStream, transformStream } from '../streams/stage.js'
import { inputSize, isSameFile, openInput, openOutput } from '../streams/stdio.js'
import { UsageError, type Arguments, type Flag } from './command.js'
import { showProgress } from './progress.js'

/** Flags of every command that writes one stream. */
export const OUTPUT_FLAGS: readonly Flag[] = [
  { name: 'output', short: 'o', value: 'FILE', help: 'Write to FILE instead of standard output; a name that ends in .gz is compressed' },
  { name: 'gzip', short: 'z', help: 'Compress the output with gzip' },
]

/** The flag of every command that writes a format which cannot carry everything. */
export const STRICT_FLAG: Flag = {
  name: 'strict',
  help: 'Fail at the first event or field that the target format has no place for, instead of counting what is left out',
}

/** Chooses the format of the output of commands that can write any. */
export const TO_FLAG: Flag = {
  name: 'to',
  value: 'FORMAT',
  help: 'Write this format',
  values: FORMATS.map((format) => format.name),
}

/** What a command reads, does and writes. */
export interface Job {
  command: string
  args: Arguments
  /** The format of the input; sniffed where it is not given. */
  from?: Format
  decode?: object
  stages?: readonly BatchTransform[]
  to: Format
  encode?: object
  /** The input and output where they are not the usual operand and flag. */
  input?: string
  output?: string
}

/** The one input of a command: its operand, or standard input. @throws UsageError */
export function inputOperand(args: Arguments): string {
  if (args.operands.length > 1) throw new UsageError(`one input at a time, not ${args.operands.length}`)
  return args.operands[0] ?? '-'
}

/** The format to write: `--to`, else what the output's name says, else `fallback`. */
export function outputFormat(args: Arguments, output: string, fallback: Format): Format {
  const named = args.value('to')
  return FORMATS.find((format) => format.name === named) ?? formatOfPath(output) ?? fallback
}

/** Runs a command that writes one stream, from its input to its output, and says on standard error what was left out. */
export async function runJob(job: Job): Promise<void> {
  const { command, args, to } = job
  const output = job.output ?? args.value('output') ?? '-'
  const compressed = args.has('gzip') || output.endsWith('.gz')
  if (output === '-' && (to.binary || compressed) && isatty(1)) {
    throw new UsageError('binary output is not for a terminal: use -o FILE or a pipe')
  }
  const input = job.input ?? inputOperand(args)
  if (isSameFile(input, output)) throw new UsageError(`${output} is the input too: write to another file`)
  const encoder = to.encoder({ ...job.encode, strict: args.has('strict') })
  try {
    await runStreams(command, input, [
      decodeAny({ ...(job.from && { format: job.from }), ...(job.decode && { decode: job.decode }) }),
      ...(job.stages ?? []).map(transformStream),
      encoderStream(encoder),
      ...(compressed ? [gzip()] : []),
    ], () => openOutput(output))
  } finally {
    reportLosses(command, to.name, encoder.losses.counts)
  }
}

/**
 * Pipes an input through streams, the first of which decodes it, into a sink; with warnings, progress and a clean end
 * on SIGINT.
 * @param openSink is called when all else is ready, so that a wrong command line does not empty a file
 */
export async function runStreams(command: string, input: string, middle: readonly Transform[], openSink: () => Writable): Promise<void> {
  if (input === '-' && isatty(0)) throw new UsageError('nothing to read: name a file or pipe a trace in')
  const source = openInput(input)
  const streams = [decompress(), ...middle]
  for (const stream of streams) stream.on('warning', (text: string) => process.stderr.write(`${command}: warning: ${text}\n`))
  let events = 0
  middle[0]?.on('events', (n: number) => {
    events += n
  })
  const interrupt = new AbortController()
  const onSignal = () => interrupt.abort()
  process.once('SIGINT', onSignal)
  const endProgress = showProgress({
    bytes: () => (source as { bytesRead?: number }).bytesRead ?? 0,
    events: () => events,
    total: inputSize(input),
  })
  try {
    await pipeline([source, ...streams, openSink()] as [typeof source, ...Transform[], Writable], { signal: interrupt.signal })
  } finally {
    process.removeListener('SIGINT', onSignal)
    endProgress()
  }
}

/** Says on standard error what a format had no place for. */
export function reportLosses(command: string, format: string, counts: ReadonlyMap<string, number>): void {
  if (counts.size === 0) return
  const items = [...counts].map(([what, n]) => `${what} (${n})`).join(', ')
  process.stderr.write(`${command}: not carried by ${format}: ${items}\n`)
}
