import { flagGroups, flagHelp, flagUsage, usageLine } from '../../dist/lib/cli/help/text.js'
import { code, GENERATED, plain, table } from './markdown.mjs'

/** The page of a command: what its --help says. */
export function commandPage(command) {
  return (
    [
      GENERATED,
      `# ${command.name}`,
      `${sentence(command.summary)}`,
      fence([usageLine(command)]),
      ...command.description.split('\n').map(plain),
      ...(command.sections ?? []).flatMap(({ title, rows }) => [
        `## ${title}`,
        table(
          ['command', 'what it does'],
          rows.map(([term, text]) => [code(term), plain(text)]),
        ),
      ]),
      ...flagGroups(command).flatMap(({ title, flags }) => [
        `## ${title}`,
        table(
          ['flag', 'meaning'],
          flags.map((flag) => [code(flagUsage(flag)), plain(flagHelp(flag))]),
        ),
      ]),
      ...(command.memory === undefined ? [] : ['## Memory', sentence(command.memory.replace(/\.$/, ''))]),
      '## Examples',
      ...Object.entries(command.examples).flatMap(([line, means]) => [
        `${sentence(means).replace(/\.$/, ':')}`,
        fence([line]),
      ]),
      'What all commands have in common, such as exit codes: see [the list of commands](README.md).',
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  )
}

/** The list of all commands, and what they have in common. */
export function commandIndex(commands, fileName) {
  return (
    [
      GENERATED,
      '# Commands',
      table(
        ['command', 'what it does'],
        commands.map((command) => [`[${command.name}](${fileName(command)})`, plain(sentence(command.summary))]),
      ),
      '## In common',
      [
        '- Each command reads one input: a file, or standard input if none or `-` is given. gzip and zip are ' +
          'decompressed; for other compression',
        '  the message names the program that decompresses it. A command that reads events in any format ' +
          'recognizes it by the first bytes.',
        '- `heapflow NAME` runs the same commands: `heapflow stats` is `hf-stats`. `heapflow help` lists them by ' +
          'task, `heapflow help NAME` or `--help` describes one.',
        '- A flag that may be repeated takes one value each time: `--kind alloc --kind free`.',
        '- Data goes to standard output or to the file after `-o`; messages go to standard error. Binary output ' +
          'is refused on a terminal.',
        '- The file after `-o` appears under its name only when it is complete. Until then it is written beside ' +
          'it under another name; if the command fails or is',
        '  interrupted, the output so far remains as `FILE.partial`, and a message says so. A symbolic link is ' +
          'followed, and the permissions of a file that is',
        '  replaced are kept. Pipes and devices are written directly. Two commands that write the same file do ' +
          'not mix; the last one that ends wins.',
        '- An output that is also an input is refused, standard output (`>> FILE`) included. Files that flags ' +
          'name, such as rules, budgets, queries and models, are inputs, too.',
        '- Between commands events travel as [NDJSON](../ndjson.md).',
        '- Fields and events that the target format cannot represent are dropped and counted on standard error; ' +
          'with `--strict` the first one is an error.',
        '  [What each format carries](../carried.md).',
        '- Everything before a fault in the input is written; then a message gives the file (`stdin` for ' +
          'standard input), the format, the place (byte offset, and line for text)',
        '  and the event number: `mtrc-decode: app.mtrc: mtrc: byte 104, event 8: truncated: ...`.',
        '- During long work a progress line is shown, if standard error is a terminal.',
        '- Standard output that is closed (`>&-`) is not noticed: Node.js opens the null device in its place.',
        '- A limit on address space (`ulimit -v`) must leave room for what WebAssembly reserves: 24 GB are ' +
          'enough for one command.',
      ].join('\n'),
      table(
        ['exit status', 'meaning'],
        [
          ['0', 'Success; also if the reader of the output closed the pipe, as with `| head`'],
          ['1', 'Bad input or I/O error; `hf-verify`: faults were found'],
          ['2', 'Usage error'],
          ['129, 130, 143', 'Interrupted by SIGHUP, SIGINT or SIGTERM'],
        ],
      ),
      '## Manual pages and completion',
      [
        'The package contains a manual page for each command; a global installation on Linux or macOS makes them ' +
          'known to `man`. Completion for bash, zsh and fish:',
        '[`heapflow completion`](heapflow-completion.md).',
      ].join('\n'),
    ].join('\n\n') + '\n'
  )
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`
}

function fence(lines) {
  return ['```sh', ...lines, '```'].join('\n')
}
