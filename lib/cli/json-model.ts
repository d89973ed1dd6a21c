import { EventEmitter } from 'node:events'
import { limit, malformed, nameInput } from '../event/error.js'
import { peek } from '../reading/peek.js'
import { inflateOnNode } from '../streams/inflate-bytes.js'
import { readInput, type ByteSource } from '../streams/io/read-input.js'
import { refuseWith, type Arguments, type Flag } from './command.js'
import { writePieces, type Output } from './output.js'

/** The first bytes of models of all kinds, with which no trace begins. */
const MODEL = /^\s*\{\s*"format"\s*:\s*"heapflow-/
const HEAD_BYTES = 256
const NEWLINE = Buffer.from('\n')
const AT = { format: 'JSON' }

/** Whether a file has a model, compressed or not, in place of a trace. A file that cannot be read has none. */
export async function hasModel(file: string): Promise<boolean> {
  const { head, whole } = await peek(inflated(file), HEAD_BYTES)
  await whole.return()
  return isModelHead(head)
}

/** An input that can be read once, and whether it has a model in place of a trace. */
interface OpenedInput {
  readonly isModel: boolean
  /** All of it, decompressed. */
  readonly source: ByteSource
}

/** Opens an input that can be read once, such as a pipe. @throws the system error if that is not possible */
export async function openInputOnce(path: string): Promise<OpenedInput> {
  const read = readInput(path, { blocking: true })
  const { head, whole } = await peek(inflateOnNode(read, {}, new EventEmitter()), HEAD_BYTES)
  const source: ByteSource = {
    [Symbol.asyncIterator]: () => whole,
    get bytesRead() {
      return read.bytesRead
    },
    close: () => read.close?.(),
  }
  return { isModel: isModelHead(head), source }
}

function isModelHead(head: Uint8Array): boolean {
  return MODEL.test(Buffer.from(head.subarray(0, HEAD_BYTES)).toString('latin1'))
}

/**
 * Reads a model, or results of a command, from a file of JSON, compressed or not, or from standard input.
 * @param most its maximum bytes after decompression
 * @param check makes the result from the value
 * @param source its decompressed bytes, if it was already opened
 * @throws TraceError for anything else
 */
export async function readJson<Result>(
  file: string,
  most: number,
  check: (value: unknown) => Result,
  source: AsyncIterable<Uint8Array> = inflated(file),
): Promise<Result> {
  try {
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of source) {
      bytes += chunk.length
      if (bytes > most) throw limit(`it has more than ${most} bytes`, AT)
      chunks.push(chunk)
    }
    const text = Buffer.concat(chunks.splice(0)).toString()
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      throw malformed((error as Error).message, AT)
    }
    return check(value)
  } catch (error) {
    nameInput(error, file)
    throw error
  }
}

/**
 * Writes a model as JSON.
 * @param most the bytes that `readJson` takes
 * @throws TraceError (ERR_TRACE_LIMIT) if it has more; nothing is written then
 */
export async function writeModel(output: Output, model: object, most: number): Promise<void> {
  const text = textOf(model)
  if (text === undefined || Buffer.byteLength(text) + NEWLINE.length > most)
    throw limit(`the model would have more than ${most} bytes, and could not be read`, AT)
  await writePieces(output, [Buffer.from(text), NEWLINE])
}

/**
 * Refuses flags that have no effect if a model is written.
 * @param flags the flags of the command
 * @param used the names of the flags with an effect
 * @throws UsageError
 */
export function refuseUnused(args: Arguments, flags: readonly Flag[], used: readonly string[]): void {
  const names = flags.map(({ name }) => name)
  refuseWith(
    args,
    names.filter((name) => !used.includes(name)),
    'write-model',
  )
}

function inflated(file: string): AsyncGenerator<Uint8Array> {
  return inflateOnNode(readInput(file, { blocking: true }), {}, new EventEmitter())
}

/** The text of a value; undefined if it is longer than a string can be. */
function textOf(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
