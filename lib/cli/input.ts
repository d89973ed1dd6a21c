import type { EventEmitter } from 'node:events'
import { basename } from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import type { EventBatch } from '../event/batch.js'
import type { TraceError } from '../event/error.js'
import type { Stage } from '../event/stage.js'
import { decodeBytes, type DecodeAnyOptions } from '../streams/decode-bytes.js'
import { sharedSource } from '../streams/io/file-status.js'
import type { ByteSource } from '../streams/io/read-input.js'
import { samePipe } from '../streams/io/read-text.js'
import { numberOf, UsageError, type Arguments } from './command.js'
import { isTerminal } from './is-terminal.js'

/** A stream that reads, and the streams that its data goes through; the first one may count the bytes that it read. */
export type Streams = readonly [Readable & { bytesRead?: number | (() => number) }, ...Duplex[]]

/** The decoder of the (inflated) bytes of a trace, which gives the results of the stage that its events go through. */
type ReadTrace = <Out>(
  bytes: AsyncIterable<Uint8Array>,
  emitter: EventEmitter,
  through: Stage<EventBatch, Out>,
) => AsyncGenerator<Out>

/** One file with the events of a command. Each batch is used once, so its memory is recycled. */
export interface TraceInput {
  /** The file, or `-` for standard input. */
  readonly paths: readonly [string]
  readonly read: ReadTrace
  /** Its bytes, if it was opened already. */
  readonly source?: ByteSource
  /** Called if the file is truncated: it then ends without an error. */
  readonly onTruncated?: ((error: TraceError) => void) | undefined
}

/** Another source of a command's events. */
export interface StreamInput {
  /** Files, or `-` for standard input. */
  readonly paths: readonly string[]
  /** Opens it. The last of the streams gives the results of `through`, which takes the events. */
  open(through: Stage<EventBatch, Uint8Array>): Streams
}

/** The one input of a command: its operand, or standard input. @throws UsageError */
export function inputOperand(args: Arguments): string {
  if (args.operands.length > 1)
    throw new UsageError(
      `one input at a time, not ${args.operands.length} ` +
        '(hf-merge --end-to-end joins traces of several runs, hf-merge those of one)',
    )
  return args.operands[0] ?? '-'
}

/** The name of an input in pages and messages. */
export function shortName(path: string): string {
  return path === '-' ? 'standard input' : basename(path)
}

/** The number of the selected trace in the input, from 1; undefined if none was chosen. @throws UsageError */
export function traceNumber(args: Arguments): number | undefined {
  return numberOf(args, 'trace', 1)
}

/**
 * The events of one file.
 * @param read the decoder, if not given by `options`
 */
export function traceInput(
  path: string,
  options: Omit<DecodeAnyOptions, 'path' | 'recycle' | 'through'> = {},
  read: ReadTrace = (bytes, emitter, through) =>
    decodeBytes(bytes, { ...options, path, recycle: true }, emitter, through),
): TraceInput {
  return { paths: [path], read, onTruncated: options.onTruncated }
}

/**
 * Refuses inputs of which two are standard input, or read the same pipe, such as `-` and `/dev/stdin`: each would get a
 * part of what is in it.
 * @throws UsageError
 */
export function refuseSharedPipe(paths: readonly string[]): void {
  if (paths.filter((path) => path === '-').length > 1) throw new UsageError('standard input can be read only once')
  const names = new Map<string, string>()
  for (const path of paths) {
    const source = sharedSource(path)
    if (source === undefined) continue
    const other = names.get(source)
    if (other !== undefined) throw new UsageError(samePipe(other, path))
    names.set(source, path)
  }
}

/** @throws UsageError when standard input is to be read and is a terminal */
export function refuseTerminal(paths: readonly string[]): void {
  if (paths.includes('-') && isTerminal(0)) throw new UsageError('nothing to read: name a file or pipe a trace in')
}
