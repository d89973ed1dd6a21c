import type { Command, Flag } from '../command.js'
import { subcommand } from '../command-list.js'
import { flagGroups, flagHelp, usageLine } from './text.js'

const EXIT_STATUS: Readonly<Record<string, string>> = {
  '0': 'Success; also if the reader of the output closed the pipe.',
  '1': 'Bad input or I/O error.',
  '2': 'Usage error.',
  '129, 130, 143':
    'Interrupted by SIGHUP, SIGINT or SIGTERM. Reading a pipe, a command leaves the first SIGINT to the programs ' +
    'that write into it, reads to the end and reports; the second one ends it.',
}

/** The name of a command's manual page, without the section. */
export function manName(command: Command): string {
  return command.name.replace(' ', '-')
}

/**
 * A command's manual page, as source for man(7).
 * @param version heapflow's version, for the footer
 * @param related the names of pages to refer to
 */
export function manPage(command: Command, version: string, related: readonly string[]): string {
  const name = manName(command)
  const also =
    subcommand(command) === command.name || command.name.includes(' ') ? [] : [`heapflow ${subcommand(command)}`]
  return [
    `.TH ${quoted(name.toUpperCase())} 1 "" ${quoted(`heapflow ${version}`)} "heapflow"`,
    // No hyphenation: most words are names.
    '.nh',
    '.ad l',
    '.SH NAME',
    `${escaped(name)} \\- ${escaped(command.summary)}`,
    '.SH SYNOPSIS',
    ...[usageLine(command), ...also.map((other) => usageLine({ ...command, name: other }))].flatMap((line, i) => [
      ...(i > 0 ? ['.br'] : []),
      `.B ${escaped(
        line
          .split(' ')
          .filter((word) => word.match(/^[a-z]/))
          .join(' '),
      )}`,
      escaped(
        line
          .split(' ')
          .filter((word) => !word.match(/^[a-z]/))
          .join(' '),
      ),
    ]),
    '.SH DESCRIPTION',
    command.description.split('\n').map(escaped).join('\n.PP\n'),
    ...(command.sections ?? []).flatMap(({ title, rows }) => [`.SS ${quoted(title)}`, ...rows.flatMap(term)]),
    ...flagGroups(command).flatMap(({ title, flags }, i) => [
      i === 0 ? '.SH OPTIONS' : `.SS ${quoted(title)}`,
      ...flags.flatMap((flag) => ['.TP', usage(flag), escaped(`${flagHelp(flag)}.`)]),
    ]),
    ...(command.memory === undefined ? [] : ['.SH MEMORY', escaped(sentence(command.memory))]),
    '.SH EXIT STATUS',
    ...Object.entries({ ...EXIT_STATUS, ...command.exitStatus })
      .toSorted(([one], [other]) => Number.parseInt(one, 10) - Number.parseInt(other, 10))
      .flatMap(term),
    '.SH EXAMPLES',
    ...Object.entries(command.examples).flatMap(([line, means], i) => [
      ...(i === 0 ? [] : ['.PP']),
      escaped(`${sentence(means).replace(/\.$/, '')}:`),
      '.PP',
      '.RS 4',
      '.EX',
      escaped(line),
      '.EE',
      '.RE',
    ]),
    '.SH SEE ALSO',
    related
      .filter((other) => other !== name)
      .map((other) => `\\fB${escaped(other)}\\fR(1)`)
      .join(',\n'),
    '',
  ].join('\n')
}

function term([name, text]: readonly [string, string]): string[] {
  return ['.TP', `\\fB${escaped(name)}\\fR`, escaped(text)]
}

/** A flag with its short form, both in bold, and its value in italics. */
function usage({ name, short, value }: Flag): string {
  const names = [...(short === undefined ? [] : [`-${short}`]), `--${name}`]
  return (
    names.map((one) => `\\fB${escaped(one)}\\fR`).join(', ') + (value === undefined ? '' : ` \\fI${escaped(value)}\\fR`)
  )
}

function sentence(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`
}

/**
 * Text without anything that roff treats as an instruction: backslashes, dashes, quotes, and dots that begin a line.
 */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(/^\./gm, '\\&.')
}

/** An argument of a macro. */
function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', '\\(dq')}"`
}
