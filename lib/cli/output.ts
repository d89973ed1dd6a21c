import { compressBytes, zstdObstacle, type Compression } from '../streams/compress-bytes.js'
import { ByteWriter } from '../streams/io/byte-writer.js'
import { isSameFile } from '../streams/io/file-status.js'
import { Incomplete, oneOf, UsageError, type Arguments } from './command.js'
import { isTerminal } from './is-terminal.js'

/** The place to which a command writes one stream. */
export interface Output {
  /** A file, or `-` for standard output. */
  readonly path: string
  /** Its compression, by a flag or the file's name. */
  readonly compression: Compression | undefined
  /** Whether compressing it takes little time, for more bytes. Default false. */
  readonly isFast?: boolean
}

/**
 * The output that the flags describe.
 * @param inputs the files that are read, or `-`
 * @param binary the output is not text, even without compression
 * @param path instead of the one after `-o`
 * @throws UsageError if that would overwrite an input, or write binary data to a terminal
 */
export function outputOf(args: Arguments, inputs: readonly string[], binary: boolean, path?: string): Output {
  const output = path ?? args.value('output') ?? '-'
  const compression = compressionOf(args, output)
  if (output === '-' && (binary || compression !== undefined) && isTerminal(1))
    throw new UsageError('refusing to write binary data to a terminal: use -o FILE or redirect')
  refuseInputs(args, inputs, output)
  return { path: output, compression }
}

/**
 * The compression of an output, by the flags or by its name.
 * @throws UsageError if that is impossible, or if the flags contradict the name
 */
export function compressionOf(args: Arguments, output: string): Compression | undefined {
  const name = output.toLowerCase()
  const named = name.endsWith('.gz') ? 'gzip' : name.endsWith('.zst') ? 'zstd' : undefined
  const flag = oneOf(args, ['gzip', 'zstd'])
  const compression = flag ?? named
  if (named !== undefined && named !== compression)
    throw new UsageError(`--${flag} and the name ${output} cannot be combined`)
  const obstacle = compression === 'zstd' ? zstdObstacle() : undefined
  if (obstacle !== undefined) throw new UsageError(`${obstacle}: use gzip (-z), or pipe the output to zstd`)
  return compression
}

/**
 * Refuses to compress what nothing could read then.
 * @throws UsageError for Parquet that would be compressed
 */
export function refuseCompressed(args: Arguments, format: string, compression: Compression | undefined): void {
  if (format !== 'parquet' || compression === undefined) return
  const flag = ['gzip', 'zstd'].find((name) => args.has(name))
  const what = flag === undefined ? `the ending ${compression === 'gzip' ? '.gz' : '.zst'}` : `--${flag}`
  throw new UsageError(`Parquet has its pages compressed, and cannot be read from a compressed file: leave out ${what}`)
}

/**
 * @param inputs the files that are read, or `-`, besides those that flags name
 * @throws UsageError when the output is one of the files that the command reads
 */
export function refuseInputs(args: Arguments, inputs: readonly string[], output: string): void {
  for (const input of inputs) refuseSameFile(input, output)
  for (const [flag, file] of args.reads) refuseSameFile(file, output, `the file of --${flag}`)
}

/**
 * @param what the role of the file, for the message
 * @throws UsageError when the output is the same file
 */
export function refuseSameFile(file: string, output: string, what = 'the input'): void {
  if (!isSameFile(file, output)) return
  const name = output === '-' ? 'standard output' : output
  throw new UsageError(`${name} is ${what} too: write to another file`)
}

/**
 * Writes a text, and is done when all of it is written.
 * @param path a file, or `-` for standard output
 * @throws Incomplete when a file could not be written completely, otherwise the error of writing
 */
export function writeText(path: string, text: string): Promise<void> {
  return writePieces({ path, compression: undefined }, [Buffer.from(text)])
}

/** Writes bytes, as `writeText` does. @param options the options of the writer */
export async function writePieces(
  { path, compression }: Output,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  options?: { blocking?: boolean },
): Promise<void> {
  const writer = new ByteWriter(path, options)
  try {
    const source = all(pieces)
    for await (const chunk of compression === undefined ? source : compressBytes(source, compression))
      await writer.write(chunk)
    await writer.finish()
  } catch (error) {
    const partial = await writer.abandon()
    throw partial === undefined ? error : new Incomplete(error, [partial])
  }
}

async function* all(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces
}
