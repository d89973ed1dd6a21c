import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isatty } from 'node:tty'
import { isSameFile, openOutput } from '../streams/io/stdio.js'
import { Incomplete, UsageError, type Arguments } from './command.js'

/** Where a command writes one stream. */
export interface Output {
  /** A file, or `-` for standard output. */
  readonly path: string
  /** It is compressed with gzip: asked for by a flag, or by the file's name. */
  readonly compressed: boolean
}

/**
 * What the flags say of the output.
 * @param inputs the files that are read, or `-`
 * @param binary the output is not text, even without compression
 * @param path in place of the one after `-o`
 * @throws UsageError where that would overwrite an input, or fill a terminal with binary data
 */
export function outputOf(args: Arguments, inputs: readonly string[], binary: boolean, path?: string): Output {
  const output = path ?? args.value('output') ?? '-'
  const compressed = args.has('gzip') || output.endsWith('.gz')
  if (output === '-' && (binary || compressed) && isatty(1))
    throw new UsageError('refusing to write binary data to a terminal: use -o FILE or redirect')
  for (const input of inputs) refuseSameFile(input, output)
  return { path: output, compressed }
}

/**
 * @param what the file is beside the output
 * @throws UsageError when the output is that very file
 */
export function refuseSameFile(file: string, output: string, what = 'the input'): void {
  if (!isSameFile(file, output)) return
  const name = output === '-' ? 'standard output' : output
  throw new UsageError(`${name} is ${what} too: write to another file`)
}

/**
 * Writes a text, and is done when all of it is written.
 * @param path a file, or `-` for standard output
 * @throws Incomplete when a file could not be written to its end, otherwise what writing fails with
 */
export async function writeText(path: string, text: string): Promise<void> {
  const sink = openOutput(path)
  try {
    await pipeline(Readable.from([Buffer.from(text)]), sink)
  } catch (error) {
    if (!sink.closed) await new Promise((resolve) => sink.once('close', resolve))
    throw sink.partial === undefined ? error : new Incomplete(error, [sink.partial])
  }
}
