import { afterEach, expect, test } from 'vitest'
import { report } from '../../lib/cli/commands/report.js'
import { check } from '../../lib/cli/commands/check.js'
import { simulate } from '../../lib/cli/commands/simulate.js'
import { expectLittle } from '../../lib/cli/expect-little.js'
import { valueOf } from '../../lib/cli/help/completion-words.js'
import { parseFlags } from '../../lib/cli/parse.js'
import type { Command } from '../../lib/cli/command.js'

const SMALL = 'test/fixtures/mtrc/small64.mtrc.gz'
const BIG = 'test/fixtures/mtrc/git.mtrc.gz'
const offered = globalThis as { [name: symbol]: (() => void) | undefined }
const EXPECT = Symbol.for('heapflow.expectLittle')

afterEach(() => {
  delete offered[EXPECT]
})

/** Whether little is expected of a command with these arguments. */
function isLittle(command: Command, ...words: string[]): boolean {
  let isExpected = false
  offered[EXPECT] = () => (isExpected = true)
  expectLittle(command, parseFlags(command, words))
  return isExpected
}

test.each([
  ['hf-report --compare', (old: string) => isLittle(report, '--compare', old, SMALL)],
  ['hf-check --baseline', (old: string) => isLittle(check, '--baseline', old, SMALL)],
  ['hf-simulate --predict', (old: string) => isLittle(simulate, '--policy', 'bump', '--predict', old, SMALL)],
])('a large file is large, too, if %s names it', (_, of) => {
  expect(of(SMALL)).toBe(true)
  expect(of(BIG)).toBe(false)
  expect(isLittle(report, BIG)).toBe(false)
})

test.each([
  [report, 'compare'],
  [simulate, 'predict'],
] as const)('files are offered for traces that are the values of flags', ({ flags }, name) => {
  expect(valueOf(flags.find((flag) => flag.name === name) as (typeof flags)[number])).toEqual({ kind: 'files' })
})
