import { kmemtrace } from '../../formats/index.js'
import { flag, optionFlags, type Command } from '../command.js'
import { CPU_PLACE } from '../defaults.js'
import { ARROW_FLAG, OUTPUT_FLAGS, STRICT_FLAG, WINDOW_FLAG } from '../flags.js'

const CPU_FLAG = flag('--cpu N', 'The CPU that the stream is of (default: that of a file name such as cpu3)')

export const kmemtraceDecode: Command = {
  name: 'kmemtrace-decode',
  summary: `decode ${kmemtrace.title} to lines of JSON`,
  operands: '[FILE...|FOLDER]',
  description:
    "Reads the Linux kernel's allocations as its kmemtrace tracer wrote them: the records of one CPU, or several " +
    'per-CPU files, which are merged by sequence number (missing and repeated ones are reported), or a folder laid ' +
    'out as the kernel had it: cpu0, cpu1 ..., abi_version, total_overruns. The later ftrace records, which carry a ' +
    'CPU and a time, are recognized by their sizes, and so is the byte order. Records of unknown types and features ' +
    'are carried along.',
  memory: 'constant for one file; for several, the events that are read at once from each.',
  flags: [...OUTPUT_FLAGS, ARROW_FLAG, ...optionFlags(kmemtrace.decodeOptions), CPU_FLAG, WINDOW_FLAG],
  examples: {
    'kmemtrace-decode cpu0 cpu1 | head -n 3': 'look at the traces of two CPUs',
    'kmemtrace-decode /sys/kernel/debug/kmemtrace | hf-stats': 'what the kernel requested, and what it wasted',
  },
  run: async (args) => (await import('./kmemtrace.run.js')).runKmemtraceDecode(args),
}

export const kmemtraceEncode: Command = {
  name: 'kmemtrace-encode',
  summary: `encode events as ${kmemtrace.title}`,
  operands: '[FILE]',
  description:
    'The input may be the lines that another command wrote, or a trace in any other format. What a kmemtrace file ' +
    `decodes to comes back byte for byte. With ${CPU_PLACE} in the name after -o, each CPU gets a file of its own, ` +
    `in which ${CPU_PLACE} stands for its number; with a name that ends in / the files are cpu0, cpu1 ..., ` +
    'abi_version and total_overruns in that folder, as the kernel had them. Events without a CPU go to CPU 0. ' +
    'Sequence numbers are added if there are none. A realloc is written as a free and an allocation.',
  memory: 'constant.',
  flags: [...OUTPUT_FLAGS, ...optionFlags(kmemtrace.encodeOptions), CPU_FLAG, STRICT_FLAG],
  examples: {
    "kmemtrace-decode cpu0 cpu1 | hf-filter --api kmalloc | kmemtrace-encode -o 'kmalloc-cpu%d'":
      'part of a trace, in files per CPU',
    'mtrc-decode app.mtrc | kmemtrace-encode -o app.kmemtrace': "a program's trace for the kernel's tools",
  },
  run: async (args) => (await import('./kmemtrace.run.js')).runKmemtraceEncode(args),
}
