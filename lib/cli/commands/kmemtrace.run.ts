import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { checkDecodeOptions, checkEncodeOptions } from '../../event/format.js'
import { cpuOfPath, PerCpu, Overruns } from '../../formats/kmemtrace/per-cpu.js'
import { kmemtrace, type KmemtraceDecodeOptions, type KmemtraceEncodeOptions } from '../../formats/kmemtrace/index.js'
import { MAX_CPU } from '../../formats/kmemtrace/info.js'
import { decodeAny } from '../../streams/decode.js'
import { makeFolder } from '../../streams/io/make-folder.js'
import { mergeInputs } from '../../streams/merge.js'
import { ABI_FILE, ABI_VERSION, OVERRUNS_FILE, PER_CPU_FILE, perCpuFiles } from '../../streams/per-cpu.js'
import { SplitFiles } from '../../streams/split-files.js'
import { transformStream } from '../../streams/stage.js'
import { numberOf, optionValues, orFlagError, UsageError, type Arguments } from '../command.js'
import { CPU_PLACE } from '../defaults.js'
import { runMergeJob, windowOption } from '../merging.js'
import { inputOperand, refuseSharedPipe, traceInput } from '../input.js'
import { compressionOf, refuseInputs, writeText } from '../output.js'
import { decodedFormat } from '../output-format.js'
import { reportLosses, runJob } from '../pipeline.js'
import { bytesOf, mergedInput, runStreams } from '../streaming.js'

const DECODE = 'kmemtrace-decode'
const ENCODE = 'kmemtrace-encode'
const MAX_CPUS = 8192

/** Runs `kmemtrace-decode`. @throws UsageError */
export async function runKmemtraceDecode(args: Arguments): Promise<void> {
  const decode: KmemtraceDecodeOptions = { ...optionValues(kmemtrace.decodeOptions, args), ...cpuOption(args) }
  orFlagError(decode, () => checkDecodeOptions(kmemtrace, decode, ''))
  const { inputs, overruns } = await perCpuFiles(args.operands.length === 0 ? ['-'] : args.operands, decode)
  refuseSharedPipe(inputs.map(({ path }) => path))
  const to = await decodedFormat(args)
  const stages = overruns === undefined ? [] : [new Overruns(overruns)]
  const [first, second] = inputs
  if (second === undefined && first !== undefined) {
    if (args.has('window')) throw new UsageError('--window is for several files: one keeps its order')
    // --cpu takes precedence over the file's name.
    const input = traceInput(first.path, { format: kmemtrace, decode: { ...first.decode, ...cpuOption(args) } })
    await runJob({ command: DECODE, args, input, stages, to })
    return
  }
  if (args.has('cpu')) throw new UsageError('--cpu is for one file: with several files, their names give the CPUs')
  const options = windowOption(args)
  const paths = inputs.map(({ path }) => path)
  const input = mergedInput(paths, () => mergeInputs(inputs, options))
  await runMergeJob({ command: DECODE, args, input, stages, to }, 'they are not of the same layout')
}

/** Runs `kmemtrace-encode`. @throws UsageError */
export async function runKmemtraceEncode(args: Arguments): Promise<void> {
  const encode: KmemtraceEncodeOptions = { ...optionValues(kmemtrace.encodeOptions, args), ...cpuOption(args) }
  orFlagError(encode, () => checkEncodeOptions(kmemtrace, encode, ''))
  const output = args.value('output') ?? '-'
  if (!output.endsWith('/') && !output.includes(CPU_PLACE)) {
    const cpu = encode.cpu ?? cpuOfPath(output)
    const input = traceInput(inputOperand(args))
    await runJob({
      command: ENCODE,
      args,
      input,
      to: kmemtrace,
      encode: { ...encode, ...(cpu !== undefined && { cpu }) },
    })
  } else if (args.has('cpu')) throw new UsageError('--cpu is for one file: those of several are named by their CPUs')
  else await writePerCpu(args, output, encode)
}

/** Writes a file for each CPU. */
async function writePerCpu(args: Arguments, output: string, encode: KmemtraceEncodeOptions): Promise<void> {
  const isFolder = output.endsWith('/')
  const compression = compressionOf(args, output)
  const ending = compression === undefined ? '' : compression === 'gzip' ? '.gz' : '.zst'
  const pattern = isFolder ? join(output, `cpu${CPU_PLACE}${ending}`) : output
  const input = inputOperand(args)
  const perCpu = new PerCpu(encode, isFolder)
  const sink = new SplitFiles({
    by: 'cpu',
    maxFiles: MAX_CPUS,
    ...(compression && { compression }),
    encoder: (key) => kmemtrace.encoder({ ...encode, cpu: Number(key), strict: args.has('strict') }),
    path: (key) => {
      const path = pattern.replaceAll(CPU_PLACE, key)
      refuseInputs(args, [input], path)
      return path
    },
  })
  if (isFolder) await prepareFolder(output)
  try {
    await runStreams(
      ENCODE,
      [input],
      () => [...bytesOf(input), decodeAny({ path: input }), transformStream(perCpu)],
      () => sink,
    )
    if (isFolder) {
      await writeText(join(output, ABI_FILE), `${ABI_VERSION}\n`)
      await writeText(join(output, OVERRUNS_FILE), `${perCpu.overruns}\n`)
    }
  } finally {
    reportLosses(ENCODE, kmemtrace.name, sink.losses)
  }
}

function cpuOption(args: Arguments): { cpu?: number } {
  const cpu = numberOf(args, 'cpu', 0, MAX_CPU)
  return cpu === undefined ? {} : { cpu }
}

/** Creates a folder for per-CPU files, or takes one without any: files of two traces would be read as one. */
async function prepareFolder(path: string): Promise<void> {
  makeFolder(path)
  const name = (await readdir(path)).find((one) => PER_CPU_FILE.test(one))
  if (name !== undefined) throw new UsageError(`${join(path, name)} is there already: write to another folder`)
}
