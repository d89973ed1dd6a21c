import type { AsciiEncodeOptions } from '../../metatf/ascii/encoder.js'
import type { BinaryDecodeOptions } from '../../metatf/binary/decoder.js'
import type { BinaryEncodeOptions } from '../../metatf/binary/encoder.js'
import type { ByteOrder } from '../../metatf/binary/header.js'
import { isNameOf, lastPart } from '../../metatf/dtd-name.js'
import { formatOf } from '../../metatf/format.js'
import type { Dtd } from '../../metatf/model.js'
import { NoDtdError, openDtd } from '../../streams/dtd-files.js'
import { metaTfBytes } from '../../streams/metatf.js'
import { numberOf, oneOf, optionValues, sizeOf, UsageError, type Arguments } from '../command.js'
import { LAST_LINE } from '../../text/last-line.js'
import { inputOperand, traceInput } from '../input.js'
import { refuseSameFile } from '../output.js'
import { decodedFormat } from '../output-format.js'
import { runJob } from '../pipeline.js'

const BINARY_WRITE_FLAGS = [
  'header',
  'headerless',
  'byte-order',
  'address-size',
  'contiguous',
  'interleaved',
  'window',
  'latency',
] as const

const BINARY_READ_FLAGS = ['headerless', 'byte-order', 'buffer'] as const

/** Runs `metatf-decode`. @throws UsageError */
export async function runDecode(args: Arguments): Promise<void> {
  const dtd = args.value('dtd') === undefined ? undefined : dtdOf(args)
  if (args.has('headerless') && dtd === undefined)
    throw new UsageError('--headerless needs --dtd: nothing else names the DTD')
  if (dtd !== undefined) refuse(args, BINARY_READ_FLAGS, dtd, 'describes ASCII')
  if (args.has('last-line') && dtd?.version === '1.0')
    throw new UsageError(
      `--last-line is for traces in ASCII: ${dtd.file} is of Meta-TF 1.0, which describes binary ones`,
    )
  const order = args.value('byte-order') as ByteOrder | undefined
  const buffer = sizeOf(args, 'buffer')
  const decode: BinaryDecodeOptions = {
    ...(args.has('headerless') && { header: false }),
    ...(order !== undefined && { byteOrder: order }),
    ...(buffer !== undefined && { buffer }),
  }
  const path = inputOperand(args)
  const options = {
    path,
    recycle: true,
    ...(dtd && { dtd }),
    folders: args.all('dtd-path'),
    decode,
    decodeText: optionValues(LAST_LINE, args),
  }
  const input = traceInput(path, {}, (bytes, emitter, through) => metaTfBytes(bytes, options, emitter, through))
  await runJob({ command: 'metatf-decode', args, input, to: await decodedFormat(args) })
}

/** Runs `metatf-encode`. @throws UsageError */
export async function runEncode(args: Arguments): Promise<void> {
  if (args.value('dtd') === undefined) throw new UsageError('name the definition of the format with --dtd')
  const dtd = dtdOf(args)
  const to = formatOf(dtd)
  const encode = to.binary ? binaryOptions(args, dtd) : asciiOptions(args, dtd)
  try {
    to.encoder(encode)
  } catch (error) {
    // Options that contradict the DTD or each other; a DtdError has the position in the DTD.
    if (error instanceof RangeError) throw new UsageError(error.message, { cause: error })
    throw error
  }
  await runJob({ command: 'metatf-encode', args, input: traceInput(inputOperand(args)), to, encode })
}

/** The DTD after `--dtd`. */
function dtdOf(args: Arguments): Dtd {
  try {
    const dtd = openDtd(args.value('dtd') as string, args.all('dtd-path'))
    refuseSameFile(dtd.file, args.value('output') ?? '-', 'the DTD')
    return dtd
  } catch (error) {
    if (error instanceof NoDtdError) throw new UsageError(`--dtd: ${error.message}`, { cause: error })
    throw error
  }
}

function binaryOptions(args: Arguments, dtd: Dtd): BinaryEncodeOptions {
  if (args.has('ascii'))
    throw new UsageError(
      `--ascii needs a DTD of Meta-TF 1.2: ${dtd.file} is of 1.0, which describes binary traces only`,
    )
  const name = args.value('name')
  const order = args.value('byte-order') as ByteOrder | undefined
  const bits = args.value('address-size')
  const window = numberOf(args, 'window', 1)
  const header = either(args, 'header', 'headerless')
  const contiguous = either(args, 'contiguous', 'interleaved')
  return {
    ...(name === undefined ? { rename: (given) => ownName(given, dtd) } : { name }),
    ...(header !== undefined && { header }),
    ...(order !== undefined && { byteOrder: order }),
    ...(bits !== undefined && { addressSize: bits === '32' ? 32 : 64 }),
    ...(contiguous !== undefined && { contiguous }),
    ...(window !== undefined && { window }),
    latency: args.has('latency'),
  }
}

function asciiOptions(args: Arguments, dtd: Dtd): AsciiEncodeOptions {
  refuse(args, BINARY_WRITE_FLAGS, dtd, 'makes ASCII')
  const name = args.value('name')
  if (name !== undefined && /[\r\n]/.test(name)) throw new UsageError('--name must be one line')
  return {
    rename: (given) => name ?? ownName(given, dtd),
    head: [`DTDURL: ${name ?? lastPart(dtd.file)}`],
  }
}

/** The name of the DTD that a trace was read with, if it can be a name of this DTD; otherwise the name of its file. */
function ownName(given: string | null, dtd: Dtd): string | null {
  return given === null || isNameOf(given, dtd.file) ? given : lastPart(dtd.file)
}

/** Refuses flags for binary traces if the DTD describes others. @throws UsageError */
function refuse(args: Arguments, flags: readonly string[], { file, version }: Dtd, what: string): void {
  const flag = version === '1.0' ? undefined : flags.find((name) => args.has(name))
  if (flag !== undefined)
    throw new UsageError(`--${flag} is for binary traces: ${file} is of Meta-TF ${version}, which ${what}`)
}

/** Which of two contradictory flags was given: true for the first. */
function either(args: Arguments, yes: string, no: string): boolean | undefined {
  const given = oneOf(args, [yes, no])
  return given === undefined ? undefined : given === yes
}
