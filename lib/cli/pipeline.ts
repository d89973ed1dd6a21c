import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isatty } from 'node:tty'
import type { EventBatch } from '../event/batch.js'
import { chain } from '../event/chain.js'
import { inputName, nameInput, TraceError } from '../event/error.js'
import type { WritableFormat } from '../event/format.js'
import type { BatchTransform, Encoder, Stage } from '../event/stage.js'
import { compressor } from '../streams/compress.js'
import { abandonOutputs } from '../streams/io/output-file.js'
import { inputSize, openOutput } from '../streams/io/stdio.js'
import { Incomplete, Interrupted, UsageError, type Arguments } from './command.js'
import type { Input, Streams } from './input.js'
import { outputOf } from './output.js'
import { showProgress, type Work } from './progress.js'
import { say } from './say.js'

/** How long pending writes may take after the command was interrupted. */
const GRACE_MS = 1000

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The input, the stages and the output of a command that writes one stream of events. */
export interface Job {
  readonly command: string
  readonly args: Arguments
  readonly input: Input
  /** The stages that the events go through. */
  readonly stages?: readonly BatchTransform[]
  readonly to: WritableFormat
  readonly encode?: object
  /** The output, if it is not that of `-o`. */
  readonly output?: string
  /** The command runs a program, which has the terminal and the signals: neither ends the job nor is there progress. */
  readonly runsProgram?: boolean
}

/** @throws UsageError when the encoder refuses what a flag says */
function encoderFor(to: WritableFormat, options: object): Encoder {
  try {
    return to.encoder(options)
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message, { cause: error }) : error
  }
}

/** A sink that knows which files it left incomplete when it was destroyed. */
export type Sink = Writable & { readonly partial?: string | readonly string[] | undefined }

/** Runs a command that writes one stream, and reports on standard error what its format could not represent. */
export async function runJob(job: Job): Promise<void> {
  const { command, args, input, stages = [], to, encode, output, runsProgram } = job
  const { path, compression } = outputOf(args, input.paths, to.binary, output)
  const encoder = encoderFor(to, { ...encode, strict: args.has('strict') })
  const through = stages.reduceRight(
    (after: Stage<EventBatch, Uint8Array>, stage) => chain(stage, after, { recycle: input.recycle }),
    encoder,
  )
  try {
    await runStreams(
      command,
      input.paths,
      () => [...input.open(through), ...(compression ? [compressor(compression)] : [])],
      () => openOutput(path, { recycle: compression === undefined, blocking: true }),
      { progress: runsProgram !== true, signals: runsProgram !== true },
    )
  } finally {
    reportLosses(command, to.name, encoder.losses.counts, canKeep(to, encode) ? '; --attributes keeps them' : '')
  }
}

/**
 * Pipes inputs through streams into a sink, with warnings and progress on standard error, until it is done or a signal
 * ends it. Everything before a fault is written before the fault is thrown.
 * @param paths the files that are read, or `-`
 * @param openSink called first, so that an output that cannot be written is found before any work
 * @param options `progress`: show it; `signals`: they end the command. Both are on by default
 * @throws Incomplete when files were left incomplete, with the reason; otherwise the reason itself
 */
export async function runStreams(
  command: string,
  paths: readonly string[],
  open: () => Streams,
  openSink: () => Sink,
  { progress = true, signals = true }: { progress?: boolean; signals?: boolean } = {},
): Promise<void> {
  if (paths.includes('-') && isatty(0)) throw new UsageError('nothing to read: name a file or pipe a trace in')
  const sink = openSink()
  const [source, ...streams] = open()
  // With several inputs, warnings name the input that they concern.
  const named = paths.length === 1 ? `${inputName(paths[0] as string)}: ` : ''
  let events = 0
  const warn = (text: string) => say(command, `warning: ${named}${text}`)
  for (const stream of [source, ...streams, sink]) {
    stream.on('warning', warn)
    stream.on('events', (n: number) => {
      events += n
    })
  }
  const interrupt = new AbortController()
  const onSignal = (signal: NodeJS.Signals) => {
    interrupt.abort(new Interrupted(signal))
    // A write that waits for a reader cannot be cancelled. By then no one handles the signal.
    setTimeout(() => {
      abandonOutputs()
      process.kill(process.pid, signal)
    }, GRACE_MS).unref()
  }
  if (signals) for (const signal of SIGNALS) process.once(signal, onSignal)
  const work: Work = {
    bytes: () => bytesRead(source),
    events: () => events,
    total: paths
      .map(inputSize)
      .reduce((sum, size) => (sum === undefined || size === undefined ? undefined : sum + size), 0),
  }
  const endProgress = progress ? showProgress(work) : () => {}
  try {
    await pipeline([source, ...streams, sink] as [Streams[0], ...typeof streams, Sink], { signal: interrupt.signal })
  } catch (error) {
    if (!sink.closed) await Promise.race([closed(sink), interrupted(interrupt.signal)])
    const reason = interrupt.signal.aborted ? (interrupt.signal.reason as Interrupted) : error
    const [path, ...more] = paths
    if (path !== undefined && more.length === 0) nameInput(reason, path)
    await nameDecoder(reason, command)
    const partial = [sink.partial ?? []].flat()
    throw partial.length > 0 ? new Incomplete(reason, partial) : reason
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal)
    endProgress()
  }
}

/** Names the command that reads what another format's decoder was given. */
async function nameDecoder(error: unknown, command: string): Promise<void> {
  if (!(error instanceof TraceError) || error.looksLike === undefined || !command.endsWith('-decode')) return
  const { COMMANDS } = await import('./command-list.js')
  const decoder = COMMANDS.find(({ name }) => name === `${error.looksLike}-decode`)?.name ?? 'hf-convert'
  error.message += `; use ${decoder}`
}

/** Whether the command has a flag, not given, that makes the format represent everything. */
function canKeep(to: WritableFormat, encode: object | undefined): boolean {
  return encode !== undefined && 'attributes' in to.encodeOptions && !('attributes' in encode)
}

function closed(sink: Sink): Promise<void> {
  return new Promise((resolve) => sink.once('close', resolve))
}

/** Resolves some time after a signal: a sink whose write waits for a reader may never close. */
function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wait = () => void setTimeout(resolve, GRACE_MS / 2)
    if (signal.aborted) wait()
    else signal.addEventListener('abort', wait, { once: true })
  })
}

/** How many bytes of an input were read; process.stdin alone does not count them. */
function bytesRead(source: Streams[0]): number {
  const read = source.bytesRead ?? 0
  return typeof read === 'number' ? read : read.call(source)
}

/**
 * Reports on standard error what a format could not represent, with counts.
 * @param instead a flag that keeps it, for the end of the message
 */
export function reportLosses(command: string, format: string, counts: ReadonlyMap<string, number>, instead = ''): void {
  if (counts.size === 0) return
  const items = [...counts].map(([what, n]) => `${what} (${n})`).join(', ')
  say(command, `warning: not representable in ${format}, dropped or changed: ${items}${instead}`)
}
