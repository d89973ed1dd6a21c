import { describe, expect, test } from 'vitest'
import { parseDtd } from '../../lib/metatf/index.js'
import { dtdError } from './support.js'
import { stopwatch } from '../support/stopwatch.js'

const X = 'tag.width = 1; x.width = 1; x.interpretation = none;\n'
const many = (count: number, make: (i: number) => string, between = '\n') => {
  return Array.from({ length: count }, (_, i) => make(i)).join(between)
}
const nested = (depth: number) => `${X}a : ${'('.repeat(depth)}x${')'.repeat(depth)} { }`
const wide = (name: string, count: number) => `${name} : (${many(count, () => 'x', ', ')}) { }`

/** Record types, each made of the one before. */
const chain = (count: number, of: (before: string) => string) => {
  return `${X}r0 : (x) { }\n${many(count, (i) => `r${i + 1} : ${of(`r${i}`)} { }`)}`
}

const DEEP_FIELDS = 'fields are nested more than 32 deep'
const DEEP_TYPES = 'record types are nested more than 32 deep'

/** Hostile DTDs, and why they are refused. */
const HOSTILE: [what: string, text: () => string, reason: string][] = [
  ['too long a text', () => ' '.repeat(2 ** 20 + 1), 'the text is longer than 1048576 characters'],
  ['too deep brackets', () => nested(33), DEEP_FIELDS],
  ['very deep brackets', () => nested(500_000), DEEP_FIELDS],
  ['too deep repetitions', () => `${X}a : (${'n*('.repeat(1000)}x${')'.repeat(1000)}) { }`, DEEP_FIELDS],
  ['too deep types as fields', () => chain(100, (before) => `(${before})`), DEEP_TYPES],
  ['too deep types of records', () => chain(99, (before) => before), DEEP_TYPES],
  ['too deep brackets in types', () => chain(17, (before) => `((${before}))`), DEEP_FIELDS],
  ['too many records', () => chain(9999, (before) => before), 'there are more than 4096 records'],
  [
    'types that double',
    () => chain(30, (before) => `(${before}, ${before})`),
    "record 'r0' has more than 10000 fields",
  ],
  ['too long a record', () => X + wide('a', 10_001), "record 'a' has more than 10000 fields"],
  [
    'too many fields',
    () => `${X}${wide('r', 9000)}\n${many(20, (i) => `a${i} : (r) { }`)}`,
    'the records have more than 100000 fields',
  ],
  [
    'endless digits',
    () => `x.width = ${'9'.repeat(1_000_000)};`,
    `the number '${'9'.repeat(40)}...' has more than 64 bits`,
  ],
  [
    'endless hex',
    () => `x.width = 0x${'f'.repeat(1_000_000)};`,
    `the number '0x${'f'.repeat(38)}...' has more than 64 bits`,
  ],
  [
    'an endless name',
    () => 'n'.repeat(1_000_000),
    `expected ':' or '.' after '${'n'.repeat(40)}...', found the end of the text`,
  ],
  [
    'an endless string',
    () => `"${'\\"'.repeat(500_000)}`,
    'a string must end on its line, and only \\" and \\\\ may follow a backslash in it',
  ],
  [
    'a reference with many meanings',
    () => `${X}a : (${many(9999, () => 'x', ', ')}, y) { y.width = x.value; y.interpretation = none; }`,
    "the width of 'y' refers to 'x', of which record 'a' has several before that",
  ],
]

describe('limits', () => {
  test.each(HOSTILE)('end %s', (_, text, reason) => {
    const time = stopwatch()
    expect(dtdError(text()).reason).toBe(reason)
    expect(time()).toBeLessThan(3000)
  })

  test('leave room', () => {
    expect(parseDtd(nested(32)).sections).toHaveLength(1)
    expect(parseDtd(X + wide('a', 10_000)).sections[0]?.records.at(-1)?.leaves).toHaveLength(10_000)
    expect(parseDtd(chain(16, (before) => `((${before}))`)).sections[0]?.records).toHaveLength(21)
    expect(parseDtd(chain(31, (before) => `(${before})`)).sections[0]?.records).toHaveLength(36)
    expect(parseDtd(`tag.width = 1;${'\n'.repeat(2 ** 20 - 14)}`).sections).toHaveLength(1)
    expect(parseDtd(`tag.width = ${'0'.repeat(50)}1;`).tagWidth).toBe(1)
    expect(parseDtd(`tag.width = 2;\n${many(255, (i) => `section s${i} ${i + 1} { }`)}\n`).sections).toHaveLength(256)
  })
})
