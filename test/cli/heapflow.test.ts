import { describe, expect, test } from 'vitest'
import { COMMANDS, GROUPS, subcommand } from '../../lib/cli/command-list.js'
import { UsageError, type Command } from '../../lib/cli/command.js'
import { ALL_COMMANDS, heapflow } from '../../lib/cli/heapflow.js'
import { flagGroups, flagUsage, helpText } from '../../lib/cli/help/text.js'
import { parseFlags } from '../../lib/cli/parse.js'
import { convert } from '../../lib/cli/commands/convert.js'
import { encodable } from '../../lib/exports/targets.js'
import { shell } from '../support/commands.js'

describe('heapflow', () => {
  test('lists every command once, by task', { tags: ['slow'] }, async () => {
    const { code, stdout, stderr } = await shell('heapflow help')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const text = stdout.toString()
    for (const { title } of GROUPS) expect(text).toContain(`\n${title}:\n`)
    for (const command of COMMANDS) {
      expect(text.match(new RegExp(`^  ${subcommand(command)} +[a-z]`, 'gm'))).toHaveLength(1)
    }
    expect((await shell('heapflow --help')).stdout.toString()).toBe(text)
    expect((await shell('heapflow -h')).stdout.toString()).toBe(text)
  })

  test('without a command, shows that on standard error and exits with 2', async () => {
    const { stdout } = await shell('heapflow help')
    expect(await shell('heapflow')).toMatchObject({ code: 2, stdout: Buffer.alloc(0), stderr: stdout.toString() })
  })

  test.each(ALL_COMMANDS.filter((command) => command !== heapflow).map((command) => [subcommand(command), command]))(
    'finds %s by its names',
    (name, command) => {
      for (const word of [name, command.name]) {
        expect(heapflow.choose?.([word, '--top', '3'])).toEqual([command, ['--top', '3']])
        expect(heapflow.choose?.(['help', word])).toEqual([command, ['--help']])
      }
    },
  )

  test('help stats, stats --help and hf-stats --help are the same', { tags: ['slow'] }, async () => {
    const { stdout } = await shell('hf-stats --help')
    expect(stdout.toString()).toContain('Usage: hf-stats')
    expect((await shell('heapflow help stats')).stdout.equals(stdout)).toBe(true)
    expect((await shell('heapflow stats --help')).stdout.equals(stdout)).toBe(true)
  })

  test('runs commands by either name', { tags: ['slow'] }, async () => {
    const DUMP = '1: malloc 0x10 5\n'
    const expected = (await shell('hf-stats --json', DUMP)).stdout.toString()
    expect((await shell('heapflow stats --json', DUMP)).stdout.toString()).toBe(expected)
    expect((await shell('heapflow "hf-stats" --json', DUMP)).stdout.toString()).toBe(expected)
    expect((await shell('heapflow "replay-decode"', DUMP)).stdout.toString()).toBe(
      (await shell('replay-decode', DUMP)).stdout.toString(),
    )
    expect((await shell('heapflow stats --version')).stdout.toString()).toMatch(/^hf-stats \d+\.\d+\.\d+\n$/)
  })

  test.each([
    ['heapflow stat', 'heapflow: there is no command "stat" (did you mean "stats"?); see heapflow --help\n'],
    ['heapflow help convrt', 'heapflow: there is no command "convrt" (did you mean "convert"?); see heapflow --help\n'],
    [
      'heapflow mtrc_decode',
      'heapflow: there is no command "mtrc_decode" (did you mean "mtrc-decode"?); see heapflow --help\n',
    ],
    ['heapflow qqqqqqqq', 'heapflow: there is no command "qqqqqqqq"; see heapflow --help\n'],
    ['heapflow --verson', 'heapflow: unknown flag --verson (did you mean "--version"?); see heapflow --help\n'],
    [
      'heapflow completion bsh',
      'heapflow completion: name one shell: bash, zsh, fish (did you mean "bash"?); see heapflow completion --help\n',
    ],
  ])('%s', async (line, stderr) => {
    expect(await shell(line)).toMatchObject({ code: 2, stderr })
  })
})

describe('flags', () => {
  const command: Command = {
    name: 'test',
    summary: 'x',
    operands: '',
    description: 'x',
    examples: {},
    flags: [
      { name: 'kind', value: 'KIND', help: 'k', repeat: true, values: ['alloc', 'free'] },
      { name: 'output', short: 'o', value: 'FILE', help: 'o' },
      { name: 'gzip', short: 'z', help: 'z' },
      { name: 'to', value: 'FORMAT', help: 't', values: ['mtrc', 'hatf'], instead: { metatf: 'use another command' } },
    ],
    run: async () => {},
  }
  const parsed = (...argv: string[]) => {
    const args = parseFlags(command, argv)
    return {
      kind: args.all('kind'),
      output: args.value('output'),
      gzip: args.has('gzip'),
      to: args.value('to'),
      operands: args.operands,
    }
  }
  const NONE = { kind: [], output: undefined, gzip: false, to: undefined, operands: [] }

  test.each([
    [[], NONE],
    [['--kind', 'alloc', 'a', '--kind=free', 'b'], { ...NONE, kind: ['alloc', 'free'], operands: ['a', 'b'] }],
    [['-zo', 'x', '-'], { ...NONE, gzip: true, output: 'x', operands: ['-'] }],
    [['-ox', '--gzip', '--gzip'], { ...NONE, gzip: true, output: 'x' }],
    [['-o', '-'], { ...NONE, output: '-' }],
    [['-o', '-1'], { ...NONE, output: '-1' }],
    [['--output=--gzip'], { ...NONE, output: '--gzip' }],
    [['--', '--gzip', '-o'], { ...NONE, operands: ['--gzip', '-o'] }],
  ])('%j', (argv, expected) => {
    expect(parsed(...argv)).toEqual(expected)
  })

  test.each([
    [['--tpo'], 'unknown flag --tpo (did you mean "--to"?)'],
    [['--gzpi', '--kind'], 'unknown flag --gzpi (did you mean "--gzip"?)'],
    [['-x'], 'unknown flag -x'],
    [['--gzip=yes'], '--gzip takes no value'],
    [['--output'], '--output needs a value: --output FILE'],
    [['--output='], "--output needs a name, not '': --output FILE"],
    [['-o', '--gzip'], '--output needs a value, and --gzip is a flag: --output FILE'],
    [['-o', 'a', '--output', 'b'], '--output was given more than once'],
    [['--kind', 'aloc'], '--kind must be one of alloc, free, not "aloc" (did you mean "alloc"?)'],
    [['--kind', 'alloc,free'], '--kind takes one value: repeat it for several (--kind alloc --kind free)'],
    [['--kind', 'alloc,x'], '--kind must be one of alloc, free, not "alloc,x" (did you mean "alloc"?)'],
    [['--to', 'metatf'], '--to must be one of mtrc, hatf, not "metatf": use another command'],
  ])('%j is refused', (argv, message) => {
    expect(() => parsed(...argv)).toThrow(new UsageError(message))
  })

  test.each([
    ['hf-filter --thread 1,2', '--thread takes one value: repeat it for several (--thread 1 --thread 2)'],
    ['hf-filter --size 1..2,4..8', '--size takes one value: repeat it for several (--size 1..2 --size 4..8)'],
    ['hf-stats --top -1', '--top needs a whole number, not "-1"'],
    ['hf-stats --tpo 3', 'unknown flag --tpo (did you mean "--top"?)'],
    ['hatf-split -a x --field size,time', '--field takes one value: repeat it for several (--field size --field time)'],
  ])('%s', async (line, message) => {
    expect(await shell(line)).toMatchObject({
      code: 2,
      stderr: `${line.split(' ')[0]}: ${message}; see ${line.split(' ')[0]} --help\n`,
    })
  })
})

test('the flags of hf-convert are listed by the formats that they are for', () => {
  const groups = new Map(flagGroups(convert).map(({ title, flags }) => [title, flags.map(({ name }) => name)]))
  const own = ['to', 'arrow', 'from', 'output', 'gzip', 'zstd', 'strict', 'format-module']
  expect(groups.get('Flags')).toEqual([...own, 'help', 'version'])
  expect(groups.get('Reading hatf')).toEqual(['no-fold'])
  expect(groups.get('Writing kmemtrace')).toEqual(['layout', 'byte-order', 'word-size'])
  // An option that several formats have is listed once.
  const names = (of: 'decodeOptions' | 'encodeOptions') =>
    new Set(encodable().flatMap((format) => Object.keys(format[of])))
  expect([...groups].filter(([title]) => title !== 'Flags').flatMap(([, flags]) => flags)).toHaveLength(
    names('decodeOptions').size + names('encodeOptions').size,
  )
  const text = helpText(convert)
  expect(text.indexOf('Writing hatf:')).toBeLessThan(text.indexOf(flagUsage({ name: 'split-addr', help: '' })))
})

test.each(ALL_COMMANDS.map((command) => [command.name, command] as const))(
  'the help of %s fits its width',
  (_, command) => {
    const wide = helpText(command)
      .split('\n')
      .slice(0, helpText(command).split('\n').indexOf('Examples:'))
      .filter((line) => line.length > 100)
    expect(wide).toEqual([])
  },
)
