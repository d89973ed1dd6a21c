import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { RUNTIME_SUPPRESSIONS } from '../../lib/names/runtime-suppressions.js'
import { SuppressionSet } from '../../lib/names/suppression-set.js'
import { KNOWN_SUPPRESSIONS, parseSuppressions, SuppressibleFrames } from '../../lib/names/suppressions.js'

interface Leak {
  readonly program: string
  /** The rule that holds for it; null for a leak of the program's own. */
  readonly rule: string | null
  readonly stack: readonly string[]
}

/**
 * The live blocks at the end of programs that start a thread, print, open a file that they never close, or load a
 * library with storage for threads: g++ 12, glibc 2.36, with libstdc++ as a library and inside the program.
 */
const LEAKS = JSON.parse(readFileSync(new URL('runtime-stacks.json', import.meta.url), 'utf8')) as readonly Leak[]

const all = [...KNOWN_SUPPRESSIONS, ...RUNTIME_SUPPRESSIONS]
const frames = new SuppressibleFrames()
const ruleOf = (stack: readonly string[], rules = all) => rules[new SuppressionSet(rules).find(frames.of({ stack }))]

test.each(LEAKS)('$program: $rule', ({ rule, stack }) => {
  expect(ruleOf(stack)?.name ?? null).toBe(rule)
  // A recorder may have the function that was called, too.
  expect(ruleOf(['malloc', ...stack])?.name ?? null).toBe(rule)
})

test('each kind of rule holds for some leak of these programs, and their own leaks are there', () => {
  const found = new Set(LEAKS.map(({ rule }) => rule))
  expect(found.size).toBeGreaterThanOrEqual(7)
  expect(LEAKS.filter(({ rule }) => rule === null).map(({ stack }) => stack[0]?.split(' ')[0])).toContain(
    '__fopen_internal',
  )
})

test('files of rules have them as text', () => {
  const text = RUNTIME_SUPPRESSIONS.map((rule) => rule.text).join('\n')
  expect(parseSuppressions(text).map(({ name }) => name)).toEqual(RUNTIME_SUPPRESSIONS.map(({ name }) => name))
})

test('the buffer of standard input is known where it is read by what reads nothing else', () => {
  const buffer = [
    '_IO_file_doallocate',
    '__GI__IO_doallocbuf',
    '_IO_doallocbuf',
    '_IO_file_underflow',
    '_IO_default_uflow',
  ]
  const known = 'buffer of a standard stream'
  expect(ruleOf([...buffer, 'getchar at stdio.h:49', 'main'])?.name).toBe(known)
  expect(ruleOf([...buffer, '__vfscanf_internal', '__isoc99_scanf', 'main'])?.name).toBe(known)
  expect(ruleOf([...buffer, '__vfscanf_internal', '__isoc99_fscanf', 'main'])).toBeUndefined()
  expect(ruleOf([...buffer, 'getline', 'main'])).toBeUndefined()
})

test.each(['__printf', '__vprintf', '__GI__IO_puts'])(
  'the buffer of standard output has names by addr2line: %s',
  (name) => {
    const buffer = ['__GI__IO_file_doallocate', '__GI__IO_doallocbuf', '_IO_new_file_overflow', '_IO_new_file_xsputn']
    expect(ruleOf([...buffer, name, 'main'])?.name).toBe('buffer of a standard stream')
    expect(ruleOf([...buffer, '__GI__IO_fputs', 'main'])).toBeUndefined()
  },
)

test("blocks of the program's own in the same places are no known leaks", () => {
  for (const stack of [
    ['in /opt/app/libstdc++.so.6+0x10', 'main at a.cc:1 in /opt/app/app+0x10'],
    ['_IO_file_doallocate', '_IO_doallocbuf', 'fputs', 'main'],
    ['_IO_file_doallocate', '_IO_doallocbuf', '_IO_file_overflow', 'fprintf', 'main'],
    ['allocate_stack', 'pthread_create', 'main'],
    ['printf', 'main'],
  ])
    expect(ruleOf(stack)).toBeUndefined()
})
