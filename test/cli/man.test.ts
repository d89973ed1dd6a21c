// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Command } from '../../lib/cli/command.js'
import { ALL_COMMANDS, heapflow } from '../../lib/cli/heapflow.js'
import { manName, manPage } from '../../lib/cli/help/man.js'

const built = new URL('../../dist/man/', import.meta.url)
const { man } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { man: string[] }

function has(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** A page as a reader sees it, without the breaks of lines. */
function rendered(source: string): string {
  const { stdout, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-P-cbou', '-ww'], {
    input: source,
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  return stdout.replace(/\s+/g, ' ')
}

test('the build makes a page for each command, and package.json names them', () => {
  const files = ALL_COMMANDS.map((command) => `${manName(command)}.1`).toSorted()
  expect(readdirSync(built).toSorted()).toEqual(files)
  expect(man.toSorted()).toEqual(files.map((file) => `dist/man/${file}`))
})

describe.skipIf(!has('groff'))('pages', () => {
  test.each(ALL_COMMANDS.map((command) => [manName(command), command] as const))('%s', (name, command) => {
    const source = readFileSync(new URL(`${name}.1`, built), 'utf8')
    // With -ww groff warns of unknown macros and characters, on standard error.
    const text = rendered(source)
    expect(text).toContain(`${name} - ${command.summary}`)
    for (const flag of command.flags) {
      expect(text).toContain(`--${flag.name}${flag.value === undefined ? '' : ` ${flag.value}`} `)
      expect(text).toContain(flag.help.replace(/\s+/g, ' '))
    }
    for (const line of Object.keys(command.examples)) expect(text).toContain(line)
    if (command !== heapflow) expect(text).toContain('SEE ALSO heapflow(1)')
  })

  test('show texts as they are, whatever they are to roff', () => {
    const odd = `.SH 'x' \\fB -- "quoted" ^~\` \\n(.c .\n.TP starts a line\n'br`
    const command: Command = {
      name: 'odd',
      summary: odd.split('\n')[0] as string,
      operands: odd.split('\n')[0] as string,
      description: odd,
      memory: odd.split('\n')[0] as string,
      sections: [{ title: 'A "title"', rows: [["'term", '.text']] }],
      flags: [{ name: 'flag', help: '.help', value: "'V", group: '.group "x"' }],
      examples: { ".dot 'quote' \\e": "'means" },
      run: async () => {},
    }
    const text = rendered(manPage(command, '1.2.3', ['odd', 'heapflow']))
    for (const line of odd.split('\n')) expect(text).toContain(line)
    for (const part of ['A "title"', "'term .text", '.help', ".dot 'quote' \\e", '.group "x"', "'means"])
      expect(text).toContain(part)
  })
})

test.skipIf(!has('mandoc'))('mandoc finds nothing to warn of', () => {
  const paths = readdirSync(built).map((file) => new URL(file, built).pathname)
  const { stdout } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', ...paths], { encoding: 'utf8' })
  // Pages are made at every build, and have no date.
  expect(stdout.split('\n').filter((line) => line !== '' && !line.includes('missing date'))).toEqual([])
})
