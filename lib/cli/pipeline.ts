import { EventEmitter } from 'node:events'
import { GROUP_FIELDS } from '../event/fields.js'
import type { EventBatch } from '../event/batch.js'
import { chain } from '../event/chain.js'
import type { BatchTransform, Encoder, Stage } from '../event/stage.js'
import { isBrokenPipe } from '../streams/broken-pipe.js'
import type { Target } from '../exports/targets.js'
import { compressBytes } from '../streams/compress-bytes.js'
import { eventCounter } from '../streams/event-counter.js'
import { inflateOnNode } from '../streams/inflate-bytes.js'
import { ByteWriter } from '../streams/io/byte-writer.js'
import { readInput } from '../streams/io/read-input.js'
import { orFlagError, type Arguments } from './command.js'
import { refuseTerminal, type StreamInput, type TraceInput } from './input.js'
import { describe } from './main.js'
import { outputOf, refuseCompressed, type Output } from './output.js'
import { say, wipeProgress } from './say.js'
import { supervise, type Supervision } from './supervise.js'

/** The input, the stages and the output of a command that writes one stream of events. */
export interface Job {
  readonly command: string
  readonly args: Arguments
  readonly input: TraceInput | StreamInput
  /** The stages that the events go through. */
  readonly stages?: readonly BatchTransform[]
  readonly to: Target
  readonly encode?: object
  /** The output, if it is not given by `-o`. */
  readonly output?: string
  /** The command runs a program, which has the terminal and the signals: neither ends the job nor is there progress. */
  readonly runsProgram?: boolean
}

/** Runs a command that writes one stream, and reports on standard error what its format could not represent. */
export async function runJob(job: Job): Promise<void> {
  const { command, args, input, stages = [], to, encode, runsProgram } = job
  const output = outputOf(args, input.paths, to.binary, job.output)
  refuseCompressed(args, to.name, output.compression)
  const options = { ...encode, strict: args.has('strict') }
  const encoder: Encoder = orFlagError(options, () => to.encoder(options), `the encoder of ${to.name}`)
  const recycle = 'read' in input
  const through = stages.reduceRight(
    (after: Stage<EventBatch, Uint8Array>, stage) => chain(stage, after, { recycle }),
    encoder,
  )
  try {
    if (recycle) {
      await runTrace({ command, input, through, output, recycle })
    } else {
      const { runStreamJob } = await import('./streaming.js')
      // The program waits when its events cannot be written as fast as they come.
      const target = { ...output, isFast: runsProgram === true }
      await runStreamJob(command, input, through, target, { progress: !runsProgram, signals: !runsProgram })
    }
  } finally {
    reportLosses(command, to.name, encoder.losses.counts, keepers(to, encode, encoder.losses.counts))
  }
}

/** A command that reads one trace. */
export interface TraceRun extends Supervision {
  readonly command: string
  readonly input: TraceInput
  /** The stage that makes the output of the events. */
  readonly through: Stage<EventBatch, Uint8Array>
  /** The place where the output is written, or the object that takes it; absent if there is no output. */
  readonly output?: Output | ((chunk: Uint8Array) => void)
  /** The output is compressed as a whole even if the trace is truncated. */
  readonly isWhole?: boolean
  /** No one else has the chunks of `through`: their memory is reused. Default false. */
  readonly recycle?: boolean
}

/**
 * Reads a trace through a stage and writes the result, without streams between. Output to standard output is written
 * before more is read, so signals end the process at once; a process that writes a file names it first.
 * @throws Incomplete when a file was left incomplete, with the reason; otherwise the reason itself
 */
export async function runTrace(run: TraceRun): Promise<void> {
  const { command, input, through, output = () => {}, isWhole = false, recycle = false, ...supervision } = run
  refuseTerminal(input.paths)
  const { path, compression } = typeof output === 'function' ? { path: undefined, compression: undefined } : output
  const writer =
    path === undefined ? undefined : new ByteWriter(path, { recycle: recycle && compression === undefined })
  const { signals = path !== undefined && path !== '-' } = supervision
  const source = input.source ?? readInput(input.paths[0], { blocking: !signals })
  const emitter = new EventEmitter()
  const { onTruncated } = input
  const inflated = inflateOnNode(source, onTruncated === undefined ? {} : { onTruncated }, emitter)
  const results = input.read(
    inflated,
    emitter,
    chain(eventCounter(emitter, through.countsInfos), through, { recycle: true }),
  )
  const chunks = compression === undefined ? results : compressBytes(results, compression, { isAlwaysEnded: isWhole })
  let isOver = false
  const flow = async () => {
    for await (const chunk of chunks) {
      if (isOver) return
      wipeProgress()
      const waiting = writer === undefined ? (output as (chunk: Uint8Array) => void)(chunk) : writer.write(chunk)
      if (waiting !== undefined) await waiting
    }
    if (!isOver) await writer?.finish()
  }
  await supervise({
    command,
    paths: input.paths,
    ...supervision,
    signals,
    emitters: [emitter],
    bytesRead: () => source.bytesRead,
    run: (interrupted) => Promise.race([flow(), interrupted]),
    abandon: async () => {
      isOver = true
      source.close?.()
      const partial = await writer?.abandon()
      const unwritten = writer?.unreported
      if (unwritten !== undefined && !isBrokenPipe(unwritten)) say(command, describe(unwritten))
      return partial === undefined ? [] : [partial]
    },
  })
}

/** A stage without results. @param take is called with each batch */
export function sink(take: (batch: EventBatch) => void): Stage<EventBatch, Uint8Array> {
  return { consumes: true, feed: take, next: () => null, end() {}, endTruncated() {} }
}

/** The advice about a missing flag with which the format represents all fields of the core. */
function keepers(to: Target, encode: object | undefined, counts: ReadonlyMap<string, number>): string {
  if (encode === undefined || !('attributes' in to.encodeOptions) || 'attributes' in encode) return ''
  const groups = [...counts.keys()].filter((what) => GROUP_FIELDS.some(({ name }) => name === what))
  if (groups.length === 0) return '; --attributes keeps them'
  return groups.length < counts.size ? `; --attributes keeps them, but not ${groups.join(', ')}` : ''
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
