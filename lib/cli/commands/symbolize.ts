import { EVENT_FLAGS } from '../flags.js'
import { flag, type Command } from '../command.js'

export const symbolize: Command = {
  name: 'hf-symbolize',
  summary: 'add the names of functions to a trace',
  operands: '[FILE]',
  isOpenEnded: true,
  description:
    'Frames of stacks that have a module and an offset, and no function, get their function, file, line and inlined ' +
    "callers. Traces of heapflow's recorder and of heaptrack -r are such traces. Call sites with a module, as in " +
    'traces of glibc-mtrace, get the function, file and line. Everything else stays as it is.\n' +
    'A module is looked for at its path, and in each --debug-dir by path and by name. If it has no line tables, ' +
    'a debug file with its build id is looked for, as .build-id/xx/yyy.debug in each --debug-dir and in ' +
    '/usr/lib/debug; then the file that its .gnu_debuglink names, beside it, in .debug beside it, and in these ' +
    'folders; then debuginfod-find is asked if DEBUGINFOD_URLS is set. A file with another build id than the trace ' +
    "says, or --build-id, is refused. Of all formats, only that of heapflow's recorder has build ids. A raw " +
    'heaptrack file has the addresses of the parts of each module: a file with others is refused, but a module that ' +
    'was built again with parts of the same sizes gives wrong names.\n' +
    'The names come from llvm-symbolizer, otherwise from addr2line, otherwise, and where neither knows a name or ' +
    'there are no line tables, from the symbol tables of the module, or the compressed one in its .gnu_debugdata, ' +
    'which have no files and lines. c++filt demangles them; where there is none, those of symbol tables stay ' +
    'mangled. A module without a file is reported, and its frames stay as they are.\n' +
    'Names of modules with a build id that took 0.1 s or longer are kept in ~/.cache/heapflow (XDG_CACHE_HOME), for ' +
    'all commands that show names: those of the 50 newest files.\n' +
    'The output is NDJSON unless --to or the name after -o says otherwise.',
  memory: 'constant: the names of a million addresses are kept. The tool takes what the debug information needs.',
  flags: [
    flag('--debug-dir DIR', 'Look for modules and debug files in DIR', { repeat: true }),
    flag('--build-id MODULE=ID', 'Refuse files for MODULE, a path in the trace, that have another build id', {
      repeat: true,
    }),
    flag('--tool TOOL', 'Ask this tool; none reads symbol tables only', {
      values: ['llvm-symbolizer', 'addr2line', 'none'],
    }),
    ...EVENT_FLAGS,
  ],
  examples: {
    'hf-symbolize heaptrack.app.1234.raw.zst -o app.ndjson.gz': 'a raw recording of heaptrack',
    'hf-symbolize --debug-dir symbols/ app.raw.zst | hf-stats': 'the debug files of stripped programs are in a folder',
  },
  run: async (args) => (await import('./symbolize.run.js')).runSymbolize(args),
}
