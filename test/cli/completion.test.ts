// @module-tag slow
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { COMMANDS, subcommand } from '../../lib/cli/command-list.js'
import { bashCompletion } from '../../lib/cli/help/completion-bash.js'
import { fishCompletion } from '../../lib/cli/help/completion-fish.js'
import { zshCompletion } from '../../lib/cli/help/completion-zsh.js'
import { KINDS } from '../../lib/event/fields.js'
import { scratch, shell } from '../support/commands.js'

const run = promisify(execFile)

function has(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test('heapflow completion prints the script of each shell', async () => {
  expect((await shell('heapflow completion bash')).stdout.toString()).toBe(bashCompletion())
  expect((await shell('heapflow completion zsh')).stdout.toString()).toBe(zshCompletion())
  expect((await shell('heapflow completion fish')).stdout.toString()).toBe(fishCompletion())
})

describe.skipIf(!has('bash'))('bash', () => {
  const folder = () => {
    const path = scratch()
    writeFileSync(join(path, 'completion.bash'), bashCompletion())
    mkdirSync(join(path, 'in dir'))
    writeFileSync(join(path, 'trace one.mtrc'), '')
    writeFileSync(join(path, 'trace2.mtrc'), '')
    return path
  }

  /** What bash offers where the cursor stands behind these words. */
  async function offered(...words: string[]): Promise<string[]> {
    const script = `
      source completion.bash
      complete -p "\${1##*/}" > /dev/null || exit 1
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
      _heapflow "$1"
      printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await run('bash', ['-c', script, 'bash', ...words], { cwd: folder() })
    return stdout.split('\n').filter((line) => line !== '')
  }

  test('is loaded by every program without a word', async () => {
    const names = ['heapflow', ...COMMANDS.map(({ name }) => name)]
    const script = `source completion.bash; for name in ${names.join(' ')}; do complete -p $name; done`
    const { stdout, stderr } = await run('bash', ['-c', script], { cwd: folder() })
    expect(stderr).toBe('')
    expect(stdout).toBe(names.map((name) => `complete -F _heapflow ${name}\n`).join(''))
  })

  test.each([
    [['heapflow', 'st'], ['stats']],
    [['hf-record', '-o', 'x', '--', 'compopt'], ['compopt']],
    [
      ['heapflow', 'record', '--', 'cat', 'trace'],
      ['trace one.mtrc', 'trace2.mtrc'],
    ],
    [
      ['heapflow', 'mtrc-'],
      ['mtrc-decode', 'mtrc-encode'],
    ],
    [['heapflow', '--v'], ['--version']],
    [['heapflow', 'help', 'conv'], ['convert']],
    [
      ['heapflow', 'completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['heapflow', 'stats', '--to'], ['--top']],
    [['heapflow', 'filter', '--kind', 'al'], ['alloc']],
    [['hf-stats', '--ti'], ['--timeline']],
    [['/usr/local/bin/hf-filter', '--kind', ''], [...KINDS]],
    [['hf-filter', '--kind', '=', 'fr'], ['free']],
    [['hf-filter', '--kind', '='], [...KINDS]],
    [['hf-filter', '--thread', ''], []],
    [
      ['hf-filter', '--kind', 'free', 'tr'],
      ['trace one.mtrc', 'trace2.mtrc'],
    ],
    [['hf-filter', '-o', 'trace2'], ['trace2.mtrc']],
    [['hf-sort', '--temporary', ''], ['in dir']],
    [['hf-stats', 'trace1.mtrc', '-'], expect.arrayContaining(['-o', '--output', '--json', '-h', '--help'])],
  ])('%j', async (words, expected) => {
    expect((await offered(...words)).toSorted()).toEqual(Array.isArray(expected) ? expected.toSorted() : expected)
  })

  test('knows every command and every flag', async () => {
    expect(await offered('heapflow', '')).toEqual(
      expect.arrayContaining(['help', 'completion', ...COMMANDS.map(subcommand)]),
    )
    const script = bashCompletion()
    for (const { flags } of COMMANDS) for (const { name } of flags) expect(script).toContain(`--${name}`)
  })
})

test.skipIf(!has('zsh'))('the script for zsh is one, and describes all arguments', async () => {
  const path = join(scratch(), '_heapflow')
  writeFileSync(path, zshCompletion())
  expect(await run('zsh', ['-n', path])).toEqual({ stdout: '', stderr: '' })
  // Sourced after compinit, it registers the function for each program.
  const names = COMMANDS.map(({ name }) => name)
  const script = `autoload -U compinit; compinit -u -D; source ${path}; for name in heapflow ${names.join(' ')}; do print $_comps[$name]; done`
  const { stdout, stderr } = await run('zsh', ['-fc', script])
  expect({ stdout, stderr }).toEqual({ stdout: '_heapflow\n'.repeat(names.length + 1), stderr: '' })
})

test.skipIf(!has('fish'))('the script for fish completes commands, flags and values', async () => {
  const path = join(scratch(), 'heapflow.fish')
  writeFileSync(path, fishCompletion())
  expect(await run('fish', ['--no-execute', path])).toEqual({ stdout: '', stderr: '' })
  const offered = async (line: string) => {
    const { stdout } = await run('fish', ['--no-config', '-c', `source ${path}; complete -C ${JSON.stringify(line)}`])
    return stdout.split('\n').map((item) => item.split('\t')[0])
  }
  expect(await offered('heapflow sta')).toContain('stats')
  expect(await offered('heapflow stats --t')).toContain('--top')
  expect(await offered('hf-filter --kind al')).toContain('alloc')
  expect(await offered('heapflow filter --kind al')).toContain('alloc')
  expect(await offered('heapflow completion ')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']))
})

test('scripts quote what the tables say', () => {
  // The help has apostrophes, brackets and colons.
  expect(zshCompletion()).not.toMatch(/[^\\]'[^'\n]*'s /)
  expect(zshCompletion()).toContain("'\\''s")
  expect(fishCompletion()).toContain("\\'s")
})
