import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PerCpu, Overruns } from '../../formats/kmemtrace/per-cpu.js'
import { kmemtrace, type KmemtraceDecodeOptions, type KmemtraceEncodeOptions } from '../../formats/kmemtrace/index.js'
import { decodeAny } from '../../streams/decode.js'
import { mergeInputs } from '../../streams/merge.js'
import { ABI_FILE, ABI_VERSION, OVERRUNS_FILE, PER_CPU_FILE, perCpuFiles } from '../../streams/per-cpu.js'
import { SplitFiles } from '../../streams/split-files.js'
import { transformStream } from '../../streams/stage.js'
import { isSameFile } from '../../streams/stdio.js'
import { ndjson } from '../../wire/ndjson/index.js'
import { optionFlags, optionValues, UsageError, wholeNumber, type Arguments, type Command } from '../command.js'
import { runMergeJob, WINDOW_FLAG, windowOption } from '../merging.js'
import { inputOperand, OUTPUT_FLAGS, reportLosses, runJob, runStreams, STRICT_FLAG } from '../pipeline.js'

const PLACE = '%d'
const MAX_OPEN = 64
const MAX_CPUS = 8192
const CPU_FLAG = { name: 'cpu', value: 'N', help: 'The CPU that the stream is of (default: that of a file name such as cpu3)' }

export const kmemtraceDecode: Command = {
  name: 'kmemtrace-decode',
  summary: `read a trace (${kmemtrace.title}) and write its events as lines of JSON`,
  operands: '[FILE...|FOLDER]',
  description:
    "Reads the Linux kernel's allocations as its kmemtrace tracer wrote them: the records of one CPU, or several per-CPU files, which are merged by sequence number (those that are " +
    'missing or come twice are reported), or a folder laid out as the kernel had it: cpu0, cpu1 ..., abi_version, total_overruns. The later ftrace records, which carry a CPU and a time, ' +
    'are found by their sizes, and so is the byte order. Records of unknown sorts and features are carried along.',
  memory: 'constant for one file; for several, the events read at a time of each.',
  flags: [
    ...OUTPUT_FLAGS,
    ...optionFlags(kmemtrace.decodeOptions),
    CPU_FLAG,
    WINDOW_FLAG,
  ],
  examples: [
    { command: 'kmemtrace-decode cpu0 cpu1 | head -n 3', means: 'look at the traces of two CPUs' },
    { command: 'kmemtrace-decode /sys/kernel/debug/kmemtrace | hf-stats', means: 'what the kernel requested, and what it wasted' },
  ],
  async run(args) {
    const decode: KmemtraceDecodeOptions = { ...optionValues(kmemtrace.decodeOptions, args), ...cpuOption(args) }
    const { inputs, overruns } = await perCpuFiles(args.operands.length === 0 ? ['-'] : args.operands, decode)
    if (inputs.filter(({ path }) => path === '-').length > 1) throw new UsageError('standard input can be read only once')
    const stages = overruns === undefined ? [] : [new Overruns(overruns)]
    const [first, second] = inputs
    if (second === undefined && first !== undefined) {
      if (args.has('window')) throw new UsageError('--window is for several files: one keeps its order')
      // What --cpu says comes before the file's name.
      await runJob({ command: this.name, args, from: kmemtrace, decode: { ...first.decode, ...cpuOption(args) }, input: first.path, stages, to: ndjson })
      return
    }
    if (args.has('cpu')) throw new UsageError('--cpu is for one file: the names of several tell their CPUs')
    const options = windowOption(args)
    const source = { paths: inputs.map(({ path }) => path), open: () => mergeInputs(inputs, options) }
    await runMergeJob({ command: this.name, args, source, stages, to: ndjson }, 'they are not of the same layout')
  },
}

export const kmemtraceEncode: Command = {
  name: 'kmemtrace-encode',
  summary: `write events as a trace (${kmemtrace.title})`,
  operands: '[FILE]',
  description:
    'The input may be the lines that another command wrote, or a trace in any other format. What a kmemtrace file decodes to comes back byte for byte. ' +
    `With a ${PLACE} in the name after -o there is a file for each CPU, in which the ${PLACE} stands for its number; with a name that ends in / the files are cpu0, cpu1 ..., ` +
    'abi_version and total_overruns in that folder, as the kernel had them. Events that do not say their CPU go to CPU 0. ' +
    'Sequence numbers are made where there are none. A realloc is written as a free and an allocation.',
  memory: 'constant.',
  flags: [...OUTPUT_FLAGS, ...optionFlags(kmemtrace.encodeOptions), CPU_FLAG, STRICT_FLAG],
  examples: [
    { command: "kmemtrace-decode cpu0 cpu1 | hf-filter --api kmalloc | kmemtrace-encode -o 'kmalloc-cpu%d'", means: 'part of a trace, in files per CPU' },
    { command: 'mtrc-decode app.mtrc | kmemtrace-encode -o app.kmemtrace', means: "a program's trace for the kernel's tools" },
  ],
  async run(args) {
    const encode: KmemtraceEncodeOptions = { ...optionValues(kmemtrace.encodeOptions, args), ...cpuOption(args) }
    const output = args.value('output') ?? '-'
    if (!output.endsWith('/') && !output.includes(PLACE)) await runJob({ command: this.name, args, to: kmemtrace, encode })
    else if (args.has('cpu')) throw new UsageError('--cpu is for one file: those of several are named by their CPUs')
    else await writePerCpu(this.name, args, output, encode)
  },
}

/** Writes a file for each CPU. */
async function writePerCpu(command: string, args: Arguments, output: string, encode: KmemtraceEncodeOptions): Promise<void> {
  const isFolder = output.endsWith('/')
  const compressed = args.has('gzip') || output.endsWith('.gz')
  const pattern = isFolder ? join(output, `cpu${PLACE}${compressed ? '.gz' : ''}`) : output
  const input = inputOperand(args)
  const perCpu = new PerCpu(encode, isFolder)
  const sink = new SplitFiles({
    by: 'cpu',
    maxOpen: MAX_OPEN,
    maxFiles: MAX_CPUS,
    gzip: compressed,
    encoder: (key) => kmemtrace.encoder({ ...encode, cpu: Number(key), strict: args.has('strict') }),
    path: (key) => {
      const path = pattern.replaceAll(PLACE, key)
      if (isSameFile(input, path)) throw new UsageError(`${path} is the input too: name the files otherwise`)
      return path
    },
  })
  if (isFolder) await prepareFolder(output)
  try {
    await runStreams(command, input, [decodeAny(), transformStream(perCpu)], () => sink)
    if (isFolder) {
      await writeFile(join(output, ABI_FILE), `${ABI_VERSION}\n`)
      await writeFile(join(output, OVERRUNS_FILE), `${perCpu.overruns}\n`)
    }
  } finally {
    reportLosses(command, kmemtrace.name, sink.losses)
  }
}

function cpuOption(args: Arguments): { cpu?: number } {
  const text = args.value('cpu')
  return text === undefined ? {} : { cpu: wholeNumber('cpu', text) }
}

/** Makes a folder for per-CPU files, or takes one that has none: files of two traces would be read as one. */
async function prepareFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true })
  const name = (await readdir(path)).find((one) => PER_CPU_FILE.test(one))
  if (name !== undefined) throw new UsageError(`${join(path, name)} is there already: write to another folder`)
}
