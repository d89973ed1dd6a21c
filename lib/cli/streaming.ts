import type { Duplex, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { EventBatch } from '../event/batch.js'
import type { Stage } from '../event/stage.js'
import { closed } from '../streams/closed.js'
import { compressor } from '../streams/compress.js'
import { decodeAny } from '../streams/decode.js'
import { decompress } from '../streams/decompress.js'
import { openInput, openOutput } from '../streams/io/stdio.js'
import { encoderStream } from '../streams/stage.js'
import { refuseTerminal, type StreamInput, type Streams } from './input.js'
import type { Output } from './output.js'
import { supervise, type Supervision } from './supervise.js'

/** A sink that knows which files it left incomplete when it was destroyed. */
export type Sink = Writable & { readonly partial?: string | readonly string[] | undefined }

/** The streams that read the bytes of a file, inflated. */
export function bytesOf(path: string): Streams {
  return [openInput(path), decompress()]
}

/** The events of one file, through a stream that holds them back. */
export function heldInput(path: string, transform: () => Duplex): StreamInput {
  return {
    paths: [path],
    open: (through) => [...bytesOf(path), decodeAny({ path }), transform(), encoderStream(through)],
  }
}

/** The events of several files, as one stream of batches that counts the bytes it read. */
export function mergedInput(paths: readonly string[], open: () => Streams[0]): StreamInput {
  return { paths, open: (through) => [open(), encoderStream(through)] }
}

/** Runs a command whose input is streams. `through` makes its output of the events. */
export async function runStreamJob(
  command: string,
  input: StreamInput,
  through: Stage<EventBatch, Uint8Array>,
  { path, compression, isFast }: Output,
  supervision: Supervision,
): Promise<void> {
  await runStreams(
    command,
    input.paths,
    () => [...input.open(through), ...(compression ? [compressor(compression, isFast)] : [])],
    () => openOutput(path, { recycle: compression === undefined, blocking: true }),
    supervision,
  )
}

/**
 * Pipes inputs through streams into a sink, with warnings and progress on standard error, until it is done or a signal
 * ends it. Everything before a fault is written before the fault is thrown.
 * @param paths the files that are read, or `-`
 * @param openSink called first, so that an output that cannot be written is found before any work
 * @throws Incomplete when files were left incomplete, with the reason; otherwise the reason itself
 */
export async function runStreams(
  command: string,
  paths: readonly string[],
  open: () => Streams,
  openSink: () => Sink,
  supervision: Supervision = {},
): Promise<void> {
  refuseTerminal(paths)
  const sink = openSink()
  const [source, ...streams] = open()
  const interrupt = new AbortController()
  await supervise({
    command,
    paths,
    ...supervision,
    emitters: [source, ...streams, sink],
    bytesRead: () => bytesRead(source),
    run: (interrupted) => {
      interrupted.catch((reason: unknown) => interrupt.abort(reason))
      return pipeline([source, ...streams, sink] as [Streams[0], ...typeof streams, Sink], { signal: interrupt.signal })
    },
    abandon: async () => {
      await closed(sink)
      return [sink.partial ?? []].flat()
    },
  })
}

/** The number of bytes of an input that were read; process.stdin alone does not count them. */
function bytesRead(source: Streams[0]): number {
  const read = source.bytesRead ?? 0
  return typeof read === 'number' ? read : read.call(source)
}
