import { flagGroups, flagHelp, flagUsage, usageLine } from '../../dist/lib/cli/help/text.js'
import { code, GENERATED, plain, table } from './markdown.mjs'

/** The page of a command: what its --help says. */
export function commandPage(command) {
  return [
    GENERATED,
    `# ${command.name}`,
    `${sentence(command.summary)}`,
    fence([usageLine(command)]),
    ...command.description.split('\n').map(plain),
    ...(command.sections ?? []).flatMap(({ title, rows }) => [
      `## ${title}`,
      table(['command', 'what it does'], rows.map(([term, text]) => [code(term), plain(text)])),
    ]),
    ...flagGroups(command).flatMap(({ title, flags }) => [
      `## ${title}`,
      table(['flag', 'meaning'], flags.map((flag) => [code(flagUsage(flag)), plain(flagHelp(flag))])),
    ]),
    ...(command.memory === undefined ? [] : ['## Memory', sentence(command.memory.replace(/\.$/, ''))]),
    '## Examples',
    ...command.examples.flatMap(({ command: line, means }) => [`${sentence(means).replace(/\.$/, ':')}`, fence([line])]),
    'What all commands have in common, such as exit codes: see [the list of commands](README.md).',
    '',
  ].join('\n\n').trimEnd() + '\n'
}

/** The list of all commands, and what they have in common. */
export function commandIndex(commands, fileName) {
  return [
    GENERATED,
    '# Commands',
    table(['command', 'what it does'], commands.map((command) => [`[${command.name}](${fileName(command)})`, plain(sentence(command.summary))])),
    '## In common',
    [
      '- Each command reads one input: a file, or standard input where none or `-` is given. gzip and zip are inflated.',
      '- Data goes to standard output or to the file after `-o`; messages go to standard error. Binary output is refused on a terminal.',
      '- Between commands events travel as [NDJSON](../ndjson.md). A command that reads events in any format finds it from the first bytes.',
      '- Fields and events that the target format has no place for are counted on standard error; with `--strict` the first one is an error. [What each format carries](../carried.md).',
      '- Everything before a fault in the input is written, then the fault is told with format, byte offset (and line, for text) and event number.',
      '- While long work goes on a progress line is shown, if standard error is a terminal.',
    ].join('\n'),
    table(
      ['exit code', 'meaning'],
      [
        ['0', 'Done; also when the reader of the output went away, as with `| head`'],
        ['1', 'The data is at fault, or reading or writing failed'],
        ['2', 'The command line makes no sense'],
        ['130', 'Interrupted (SIGINT)'],
      ],
    ),
  ].join('\n\n') + '\n'
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`
}

function fence(lines) {
  return ['```sh', ...lines, '```'].join('\n')
}
