import type { Duplex, Readable } from 'node:stream'
import type { EventBatch } from '../event/batch.js'
import type { Stage } from '../event/stage.js'
import { decodeAny, type DecodeAnyOptions } from '../streams/decode.js'
import { decompress } from '../streams/decompress.js'
import { openInput } from '../streams/io/stdio.js'
import { encoderStream } from '../streams/stage.js'
import { UsageError, type Arguments } from './command.js'

/** A stream that reads, and the streams that its data goes through; the first one may count the bytes that it read. */
export type Streams = readonly [Readable & { bytesRead?: number | (() => number) }, ...Duplex[]]

/** The source of a command's events. */
export interface Input {
  /** Files, or `-` for standard input. */
  readonly paths: readonly string[]
  /** Each batch is used once: its memory may be recycled. */
  readonly recycle: boolean
  /** Opens it. The last of the streams gives the results of `through`, which takes the events. */
  open(through: Stage<EventBatch, Uint8Array>): Streams
}

/** The one input of a command: its operand, or standard input. @throws UsageError */
export function inputOperand(args: Arguments): string {
  if (args.operands.length > 1)
    throw new UsageError(`one input at a time, not ${args.operands.length} (hf-merge joins several)`)
  return args.operands[0] ?? '-'
}

/** The streams that read the bytes of a file, inflated. */
export function bytesOf(path: string, options: Pick<DecodeAnyOptions, 'onTruncated'> = {}): Streams {
  return [openInput(path), decompress(options)]
}

/**
 * The events of one file.
 * @param reader makes the stream that decodes it
 */
export function traceInput(
  path: string,
  options: Omit<DecodeAnyOptions, 'path' | 'recycle' | 'through'> = {},
  reader: (options: DecodeAnyOptions) => Duplex = decodeAny,
): Input {
  const cut = options.onTruncated && { onTruncated: options.onTruncated }
  return {
    paths: [path],
    recycle: true,
    open: (through) => [...bytesOf(path, cut), reader({ ...options, path, recycle: true, through })],
  }
}

/** The events of one file, through a stream that holds them back. */
export function heldInput(path: string, transform: () => Duplex): Input {
  return {
    paths: [path],
    recycle: false,
    open: (through) => [...bytesOf(path), decodeAny({ path }), transform(), encoderStream(through)],
  }
}

/** The events of several files, as one stream of batches that counts the bytes it read. */
export function mergedInput(paths: readonly string[], open: () => Streams[0]): Input {
  return { paths, recycle: false, open: (through) => [open(), encoderStream(through)] }
}
