import {
  arrow,
  compact,
  glibcMtrace,
  hatf,
  heapmon,
  heaptrack,
  mtrc,
  parquet,
  recorder,
  replay,
  tracepoints,
  valgrind,
  ltrace,
} from '../../formats/index.js'
import { decodeCommand, encodeCommand } from './format.js'

const CONSTANT = 'constant.'
const ANY_INPUT = 'The input may be the lines that another command wrote, or a trace in any other format. '

export const arrowDecode = decodeCommand(arrow, {
  description:
    'Reads Arrow IPC streams that heapflow or other programs wrote, and Arrow files as pyarrow writes them. Columns ' +
    'are known by their names, which are those of the fields of events, and may be in any order. Only the column ' +
    'kind is needed. Integers may have any width, a signed one of 64 bits is taken as it is; names may be strings or ' +
    'come from a dictionary; bodies may be compressed with LZ4 or zstd. Columns with other names are left out and ' +
    'reported. Every command reads such streams by itself; this one writes them as lines of JSON.',
  memory: 'that of the largest record batch and of the dictionaries, which have at most 256 MiB each.',
  examples: {
    'arrow-decode app.arrows | head -n 3': 'look at a trace',
    'python3 make_events.py | arrow-decode | hatf-encode -o made.hatf': 'a trace that pyarrow made',
  },
})

export const arrowEncode = encodeCommand(arrow, {
  description:
    `${ANY_INPUT}Each field of events is a column, so pyarrow, polars, DuckDB and other programs read what is ` +
    'written. Nothing is lost: the header of the trace is in the metadata of the schema. Between commands, -u of the ' +
    'first one does the same.',
  memory: CONSTANT,
  examples: {
    'mtrc-decode -u app.mtrc | hf-filter -u --size 4K.. | hatf-encode -o large.hatf': 'a fast pipeline',
    [`arrow-encode app.mtrc -o app.arrows && python3 -c 'import polars; print(polars.read_ipc_stream("app.arrows"))'`]:
      'a trace as a data frame',
  },
})

export const parquetDecode = decodeCommand(parquet, {
  description:
    'Reads Parquet files that heapflow or other programs wrote, by the names of their columns, which are those of ' +
    'the fields of events; only kind is needed. Other columns are left out and reported. The file must be named: its ' +
    'index is at its end, so it cannot come from a pipe. Every command reads such files by itself.',
  memory: 'that of a page of each column, or of a row group of up to 32 MiB.',
  examples: {
    'parquet-decode app.parquet | head -n 3': 'look at a trace',
  },
})

export const parquetEncode = encodeCommand(parquet, {
  description:
    `${ANY_INPUT}Each field of events is a column, so DuckDB, pyarrow, polars and other programs read the file. ` +
    'Nothing is lost: the headers of traces are in the metadata of the file. The file of a truncated trace has a ' +
    'mark, by which heapflow reports that after all of its events.',
  memory: 'that of a row group, which has at most 65,536 events or 8 MiB, and 3 KB for each row group of the file.',
  examples: {
    [`parquet-encode app.mtrc -o app.parquet && duckdb -c "select kind, count(*) from 'app.parquet' group by 1"`]:
      'a question about a trace',
  },
})

export const mtrcDecode = decodeCommand(mtrc, {
  description:
    'Reads mpatrol tracing output of every version, word size and byte order. mpatrol names blocks by an index; ' +
    'unless --no-resolve is given, reallocs and frees get the address and size of the block that their index stands ' +
    'for.',
  memory: 'grows with the live blocks (60 to 150 bytes each); constant with --no-resolve.',
  examples: {
    'mtrc-decode app.mtrc | head -n 3': 'look at a trace',
    'gunzip < app.mtrc.gz | mtrc-decode | jq -c \'select(.kind == "alloc" and .size > 4096)\'':
      'find large allocations',
  },
})

export const mtrcEncode = encodeCommand(mtrc, {
  description:
    `${ANY_INPUT}What an MTRC trace decodes to comes back byte for byte. Events from formats without mpatrol's ` +
    'allocation indices get indices, from 1, by the addresses of their blocks.',
  memory: 'constant where the events have indices; otherwise it grows with the live blocks (60 to 150 bytes each).',
  examples: {
    'mtrc-decode app.mtrc | hf-filter --size 4K.. --lifetimes | mtrc-encode -o large.mtrc':
      'keep the large blocks, as a trace for mptrace',
  },
})

export const replayDecode = decodeCommand(replay, {
  description: "Reads Android's memory_replay dumps: text, or the .zip in which they are shipped.",
  memory: CONSTANT,
  examples: {
    'replay-decode dump.zip | head -n 3': 'look at a dump',
    'replay-decode dump.txt | hf-filter --api memalign': 'all aligned allocations',
  },
})

export const replayEncode = encodeCommand(replay, {
  description: `${ANY_INPUT}What a dump in the canonical form decodes to comes back byte for byte.`,
  memory: CONSTANT,
  examples: {
    'mtrc-decode app.mtrc | replay-encode > app.txt': 'replay an mpatrol trace against Android allocators',
  },
})

export const glibcMtraceDecode = decodeCommand(glibcMtrace, {
  description:
    "Reads what glibc's mtrace() writes to the file that MALLOC_TRACE names, as glibc of any version does. " +
    "(mpatrol's traces are another format: see mtrc-decode.) The two lines of a realloc are one event. A " +
    'line that is not an event, such as forked children leave in the file of their parent, is kept as a comment and ' +
    'counted.',
  memory: CONSTANT,
  examples: {
    'glibc-mtrace-decode app.mtrace | head -n 3': 'look at a trace',
    'glibc-mtrace-decode app.mtrace | hf-filter --module /libcrypto/ --size 4K..':
      'the large blocks that a library asked for',
  },
})

export const glibcMtraceEncode = encodeCommand(glibcMtrace, {
  description:
    `${ANY_INPUT}Traces that glibc wrote come back byte for byte, and glibc's script mtrace reads the output. ` +
    'Functions whose names contain spaces or parentheses cannot be represented.',
  memory: CONSTANT,
  examples: {
    'replay-decode dump.txt | glibc-mtrace-encode -o dump.mtrace && mtrace dump.mtrace':
      "what was not freed, by glibc's script",
  },
})

export const heaptrackDecode = decodeCommand(heaptrack, {
  description:
    'Reads what heaptrack records, raw or interpreted, of file versions 1 to 3. Each frame of a stack is a text with ' +
    'function, file, line, module and address, as far as they are known: a raw file has modules and addresses alone. ' +
    'An interpreted file has no addresses of blocks, so each block gets one of its own, and a free is that of the ' +
    'newest live block of the same size and stack.',
  memory:
    'grows with the different stacks (50 to 100 bytes for each frame that they do not share), and for interpreted ' +
    'files with the live blocks (12 bytes each).',
  examples: {
    'hf-stats heaptrack.app.1234.zst': 'who leaks, and who holds the peak',
    "heaptrack-decode heaptrack.app.1234.zst | hf-filter --stack '/^parse/' --lifetimes":
      'the blocks that one function and those that it called asked for',
  },
})

export const heaptrackEncode = encodeCommand(heaptrack, {
  description:
    `${ANY_INPUT}heaptrack_print and heaptrack_gui open what is written. What heaptrack wrote comes back byte for ` +
    'byte: a raw file as a raw one, unless --interpreted is given. A place without a stack is written as a stack of ' +
    'one frame. Threads, and which of two blocks of the same size and stack is freed, cannot be represented.',
  memory:
    'grows with the different stacks (some 200 bytes for each frame), and with the live blocks (35 to 125 bytes each).',
  examples: {
    'mtrc-decode app.mtrc | heaptrack-encode -o app.heaptrack && heaptrack_print app.heaptrack':
      "heaptrack's report on a trace of mpatrol",
    'hf-convert --interpreted app.raw app.heaptrack': 'a raw trace as one that heaptrack_gui opens',
  },
})

export const tracepointsDecode = decodeCommand(tracepoints, {
  description:
    "Reads events of the Linux kernel's slab and page allocators as ftrace (trace, trace_pipe), perf script and " +
    'trace-cmd report write them, with stacks or without, and with the options of all kernels since 2.6.31. (Files ' +
    'of the kmemtrace tracer before that are another format: see kmemtrace-decode.) Pages and objects are ' +
    'distinguished by their api, and never match each other. Times in seconds become nanoseconds. Other lines are ' +
    'skipped and counted. The format is only read.',
  memory: CONSTANT,
  examples: {
    'perf script | tracepoints-decode | hf-stats': 'what was requested, and what was wasted',
    'tracepoints-decode trace.txt | hf-filter --type dentry --lifetimes': 'the objects of one cache',
  },
})

export const valgrindDecode = decodeCommand(valgrind, {
  description:
    'Reads what valgrind prints with --trace-malloc=yes, of all versions since 3.10, with --time-stamp=yes or ' +
    'without, and of several processes in one log. A realloc that valgrind prints as two calls is one event. Other ' +
    'lines are skipped and counted. The format is only read.',
  memory: CONSTANT,
  examples: {
    'valgrind-decode app.log | hf-stats': 'allocations, peak and leaks',
    'valgrind-decode app.log | hf-filter --process 12345': 'one of several processes',
  },
})

export const ltraceDecode = decodeCommand(ltrace, {
  description:
    'Reads the calls of malloc, free, operator new and the like in a log of ltrace, with its options -f, -t, -tt, ' +
    '-ttt, -r, -T, -i, -n, -C, -S, -e and -x; calls that are cut by another thread are put together. Of calls within ' +
    'calls (operator new calls malloc) the outer one is an event, unless --inner is given. Other lines are skipped ' +
    'and counted. The format is only read.',
  memory: CONSTANT,
  examples: {
    'ltrace-decode app.ltrace | hf-stats': 'allocations by thread',
    'ltrace-decode app.ltrace | hf-filter --module libxml2.so.2': 'the calls that came from one library',
  },
})

export const recorderDecode = decodeCommand(recorder, {
  description:
    "Reads what heapflow's own recorder writes (hf-record): every call with its thread, its time in " +
    'nanoseconds, the requested and the usable size, and its whole stack. The end mark says whether a signal ended ' +
    'the program, which is reported. The format is only read.',
  memory: 'that of the frames and stacks of the trace, 8 to 30 bytes each.',
  examples: {
    'recorder-decode app.hfrec | hf-stats --by thread': 'allocations by thread',
    'recorder-decode app.hfrec | hf-symbolize | head -n 3': 'events with the names of functions',
  },
})

export const heapmonDecode = decodeCommand(heapmon, {
  description:
    "Reads the text of Taligent's heap monitor: old blocks, allocations and deletions, with types and stack crawls, " +
    'in columns separated by tabs or spaces. A line that fits no rule is an error; with --skip-bad it is reported ' +
    'and counted.',
  memory: CONSTANT,
  examples: {
    'heapmon-decode app.heapmon | head -n 3': 'look at a trace',
    "heapmon-decode app.heapmon | hf-filter --stack '/Iterator/' --lifetimes":
      'the blocks that have to do with iterators',
  },
})

export const heapmonEncode = encodeCommand(heapmon, {
  description:
    `${ANY_INPUT}What a file in the canonical form decodes to comes back byte for byte. A realloc is written as a ` +
    'deletion and an allocation.',
  memory: CONSTANT,
  examples: {
    'heapmon-decode app.heapmon | hf-filter --thread 22982 | heapmon-encode > thread.heapmon': 'one thread of a trace',
  },
})

export const compactDecode = decodeCommand(compact, {
  description:
    'Reads compact traces. Their blocks have checksums: what a damaged or truncated file holds before the fault ' +
    'is given, and then an error.',
  memory: 'grows with the live blocks (90 to 250 bytes each), beside some 30 MB.',
  examples: {
    'compact-decode app.hfc | head -n 3': 'look at a trace',
    'compact-decode app.hfc | mtrc-encode | cmp - app.mtrc': 'nothing was lost',
  },
})

export const compactEncode = encodeCommand(compact, {
  description:
    `${ANY_INPUT}Nothing is lost: all fields of all events and the headers are kept, so that what a trace of any ` +
    'format decodes to comes back. A model predicts each event from those before it, and only what it did not expect ' +
    'takes space, so the result is several times smaller than with the strongest compressors.',
  memory: 'grows with the live blocks (90 to 250 bytes each), beside some 30 MB.',
  examples: {
    'compact-encode app.mtrc -o app.hfc': 'archive a trace',
    'hf-convert app.hfc app.mtrc': 'and get it back',
  },
})

export const hatfDecode = decodeCommand(hatf, {
  description:
    'Reads HATF 1.0 with all of its widths and interpretations. In HATF, a malloc or free that a realloc made has a ' +
    'record of its own; these are folded into the realloc unless --no-fold is given.',
  memory: CONSTANT,
  examples: {
    'hatf-decode app.hatf | hf-filter --kind realloc': 'all reallocs',
  },
})

export const hatfEncode = encodeCommand(hatf, {
  description:
    `${ANY_INPUT}The way each field is stored changes with the data, wherever that saves more than the metadata ` +
    'record it takes; --preset naive stores every value as it is. HATF cannot represent names, lines, indices and ' +
    'some kinds of event: these are counted on standard error, or kept with --attributes, from which hatf-decode ' +
    'restores them.',
  memory: CONSTANT,
  examples: {
    'mtrc-decode app.mtrc | hatf-encode -o app.hatf.gz': 'a compact trace to share',
    'mtrc-decode app.mtrc | hatf-encode --attributes | hatf-decode | mtrc-encode | cmp - app.mtrc': 'nothing is lost',
  },
})
