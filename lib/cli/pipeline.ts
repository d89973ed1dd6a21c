import type { Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isatty } from 'node:tty'
import { formatNamed, formatOfPath, ndjson, WRITABLE, type FormatEntry } from '../formats/index.js'
import type { EventBatch } from '../event/batch.js'
import { chain } from '../event/chain.js'
import type { TraceError } from '../event/error.js'
import type { BatchTransform, Stage } from '../event/stage.js'
import { isWritable, type Format, type WritableFormat } from '../event/format.js'
import { gzip } from '../streams/compress.js'
import { decodeAny, type DecodeAnyOptions } from '../streams/decode.js'
import { decompress } from '../streams/decompress.js'
import { encoderStream } from '../streams/stage.js'
import { inputSize, isSameFile, openInput, openOutput } from '../streams/io/stdio.js'
import { UsageError, type Arguments } from './command.js'
import { showProgress } from './progress.js'

/** Several files that are read as one stream of events. */
export interface Source {
  readonly paths: readonly string[]
  /** Opens them: a Readable of batches, which emits `events` with the number of events of each. */
  open(): Readable & { bytesRead(): number }
}

/** What a command reads, does and writes. */
export interface Job {
  command: string
  args: Arguments
  /** The format of the input; sniffed where it is not given. */
  from?: Format
  decode?: object
  /** Makes what reads the input, inflated, where it takes more than its format. */
  reader?: (options: DecodeAnyOptions) => Transform
  /** Transforms of batches that are streams by themselves. */
  streams?: readonly Transform[]
  /** What the events go through behind these. */
  stages?: readonly BatchTransform[]
  to: WritableFormat
  encode?: object
  /** The input and output where they are not the usual operand and flag. */
  input?: string
  output?: string
  /** What is read in place of one input. */
  source?: Source
  /** Takes note of an input that is cut off, which is then no error. */
  onCut?: (error: TraceError) => void
  /** Is told the format of the input; what it throws ends the job. */
  onFormat?: (format: Format) => void
}

/** The one input of a command: its operand, or standard input. @throws UsageError */
export function inputOperand(args: Arguments): string {
  if (args.operands.length > 1) throw new UsageError(`one input at a time, not ${args.operands.length}`)
  return args.operands[0] ?? '-'
}

/** The format to write: `--to`, else what the output's name says, else NDJSON. @throws UsageError */
export function outputFormat(args: Arguments, output: string): Promise<WritableFormat> {
  return loadWritable(formatNamed(args.value('to') ?? '') ?? formatOfPath(output) ?? ndjson)
}

/** A format to write. @throws UsageError when it can only be read */
export async function loadWritable(entry: FormatEntry): Promise<WritableFormat> {
  const format = await entry.load()
  if (isWritable(format)) return format
  const names = WRITABLE.map(({ name }) => name).join(', ')
  throw new UsageError(`${format.name} (${format.title}) can only be read; formats to write are ${names}`)
}

/**
 * Runs a command that writes one stream, from its input to its output, and says on standard error what was left out.
 */
export async function runJob(job: Job): Promise<void> {
  const { command, args, to, onCut } = job
  const output = job.output ?? args.value('output') ?? '-'
  const compressed = args.has('gzip') || output.endsWith('.gz')
  if (output === '-' && (to.binary || compressed) && isatty(1)) {
    throw new UsageError('binary output is not for a terminal: use -o FILE or a pipe')
  }
  const input = job.source ?? job.input ?? inputOperand(args)
  for (const path of typeof input === 'string' ? [input] : input.paths) {
    if (isSameFile(path, output)) throw new UsageError(`${output} is the input too: write to another file`)
  }
  const { stages = [], streams = [] } = job
  // What is held back to be merged or sorted may be read again.
  const recycling = { recycle: job.source === undefined && streams.length === 0 }
  const encoder = to.encoder({ ...job.encode, strict: args.has('strict') })
  const through = stages.reduceRight(
    (behind: Stage<EventBatch, Uint8Array>, stage) => chain(stage, behind, recycling),
    encoder,
  )
  const { reader = decodeAny } = job
  const isDirect = typeof input === 'string' && streams.length === 0
  try {
    await runStreams(
      command,
      input,
      [
        ...(typeof input === 'string'
          ? [
              reader({
                path: input,
                ...recycling,
                ...(isDirect && { through }),
                ...(job.from && { format: job.from }),
                ...(job.decode && { decode: job.decode }),
                ...(job.onFormat && { onFormat: job.onFormat }),
                ...(onCut && { onCut }),
              }),
            ]
          : []),
        ...streams,
        ...(isDirect ? [] : [encoderStream(through)]),
        ...(compressed ? [gzip()] : []),
      ],
      () => openOutput(output, { recycle: !compressed, blocking: true }),
      onCut,
    )
  } finally {
    reportLosses(command, to.name, encoder.losses.counts)
  }
}

/**
 * Pipes an input through streams into a sink; with warnings, progress and a clean end on SIGINT. The first of the
 * streams decodes a file's bytes; where the input is a `Source`, it takes the batches.
 * @param openSink is called when all else is ready, so that a wrong command line does not empty a file
 * @param onCut takes note of an archive that is cut off, which is then no error
 */
export async function runStreams(
  command: string,
  input: string | Source,
  middle: readonly Transform[],
  openSink: () => Writable,
  onCut?: (error: TraceError) => void,
): Promise<void> {
  const paths = typeof input === 'string' ? [input] : input.paths
  if (paths.includes('-') && isatty(0)) throw new UsageError('nothing to read: name a file or pipe a trace in')
  const source = typeof input === 'string' ? openInput(input) : input.open()
  const streams = [...(typeof input === 'string' ? [decompress(onCut && { onCut })] : []), ...middle]
  let events = 0
  const warn = (text: string) => process.stderr.write(`${command}: warning: ${text}\n`)
  for (const stream of [source, ...streams]) {
    stream.on('warning', warn)
    stream.on('events', (n: number) => {
      events += n
    })
  }
  const interrupt = new AbortController()
  const onSignal = () => interrupt.abort()
  process.once('SIGINT', onSignal)
  let sink: Writable | undefined
  const endProgress = showProgress({
    bytes: () => bytesRead(source),
    events: () => events,
    total: paths
      .map(inputSize)
      .reduce((sum, size) => (sum === undefined || size === undefined ? undefined : sum + size)),
  })
  try {
    sink = openSink()
    sink.on('warning', warn)
    await pipeline([source, ...streams, sink] as [typeof source, ...Transform[], Writable], {
      signal: interrupt.signal,
    })
  } catch (error) {
    // What came before a fault is written before the fault is told.
    if (sink !== undefined && !sink.closed && !interrupt.signal.aborted)
      await new Promise((resolve) => sink?.once('close', resolve))
    throw error
  } finally {
    process.removeListener('SIGINT', onSignal)
    endProgress()
  }
}

/** How many bytes of an input were read; files count them, pipes do not. */
function bytesRead(source: Readable & { bytesRead?: number | (() => number) }): number {
  const read = source.bytesRead ?? 0
  return typeof read === 'number' ? read : read.call(source)
}

/** Says on standard error what a format had no place for. */
export function reportLosses(command: string, format: string, counts: ReadonlyMap<string, number>): void {
  if (counts.size === 0) return
  const items = [...counts].map(([what, n]) => `${what} (${n})`).join(', ')
  process.stderr.write(`${command}: not carried by ${format}: ${items}\n`)
}
