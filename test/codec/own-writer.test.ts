import { describe, expect, test } from 'vitest'
import { defineFormat, fieldSet, groupFieldSet, registerFormat, type Cursor } from '../../lib/entry/format.js'
import { batchesOf, type TraceEvent } from '../../lib/event/batch.js'
import { drive } from '../support/drive.js'

const EVENTS: TraceEvent[] = [{ kind: 'alloc', size: 8n }]

const base = {
  name: 'own',
  carried: { alloc: fieldSet('size') },
  sniff: () => false,
  *read(cursor: Cursor) {
    yield* cursor.begin({ format: 'own' })
  },
}

/** What a format writes of an event with this writer. */
function written(writer: object, strict = false) {
  const format = defineFormat({ ...base, writer: () => writer as { event(): string } })
  const { out, error } = drive(format.encoder({ strict }), batchesOf(EVENTS, { format: 'x' }))
  return { text: Buffer.concat(out).toString(), error }
}

describe('what a writer of events returns', () => {
  test('is text or bytes', () => {
    expect(written({ event: () => 'a\n' })).toEqual({ text: 'a\n', error: undefined })
    expect(written({ event: () => Buffer.from('b\n') })).toEqual({ text: 'b\n', error: undefined })
  })

  const MUST =
    'event() of the writer of own must return text or bytes (a Uint8Array), or undefined to leave the event out'
  test.each<[string, unknown, string]>([
    ['a number', 5, `${MUST}, not 5`],
    ['a boolean', true, `${MUST}, not true`],
    ['null', null, `${MUST}, not null`],
    ['an object', {}, `${MUST}, not an object of type Object`],
    ['an array of text', ['a', 'b'], `${MUST}, not an array`],
    ['a promise', Promise.resolve('a'), 'event() of the writer of own returned a promise, but it must not be async'],
  ])('and not %s', (_, value, message) => {
    for (const strict of [false, true]) {
      const { text, error } = written({ event: () => value }, strict)
      expect(text).toBe('')
      expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE', message })
    }
  })

  test('also at the beginning and the end', () => {
    const event = () => ''
    const must = (name: string) => `${name}() of the writer of own must return text or bytes (a Uint8Array), not 1`
    expect(written({ event, begin: () => 1 }).error?.message).toBe(must('begin'))
    expect(written({ event, end: () => 1 }).error?.message).toBe(must('end'))
  })
})

describe('a definition of a format', () => {
  const define = (more: object) => () => defineFormat({ ...base, ...more })

  test.each<[string, () => unknown, string]>([
    [
      'a property',
      define({ extension: '.own' }),
      'defineFormat: unknown option "extension" (did you mean "extensions"?)',
    ],
    ['a kind', define({ carried: { allok: 1 } }), 'unknown kind of event in carried: "allok" (did you mean "alloc"?)'],
    [
      'a kind that is filled',
      define({ filled: [{ field: 'size', kinds: ['fre'], as: '0' }] }),
      'unknown kind of event in filled: "fre" (did you mean "free"?)',
    ],
    [
      'a kind that is written as another',
      define({ writtenAs: { existing: ['aloc'] } }),
      'unknown kind of event in writtenAs: "aloc" (did you mean "alloc"?)',
    ],
    ...(['lastLine', 'strict', 'window'] as const).map((name): [string, () => unknown, string] => {
      const where = name === 'lastLine' ? 'decodeOptions' : 'encodeOptions'
      return [
        `an option that all formats have, ${name}`,
        define({ [where]: { [name]: { help: 'mine', default: false } } }),
        `defineFormat: ${name} cannot be in ${where}: it is an option of all formats`,
      ]
    }),
    [
      'an ending that is no list',
      define({ extensions: '.own' }),
      'defineFormat: extensions must be an array of endings such as \'.mine\', not ".own"',
    ],
    ['an ending without its point', define({ extensions: ['own'] }), "of endings such as '.mine', not an array"],
    [
      'fields that are no set',
      define({ carried: { alloc: ['size'] } }),
      'carried must be an object of results of fieldSet',
    ],
    ['a filling', define({ filled: {} }), 'filled must be an array of fillings such as'],
    [
      'a field that is filled',
      define({ filled: [{ field: 'sise', kinds: ['alloc'], as: '0' }] }),
      'unknown field "sise" (did you mean "size"?)',
    ],
    [
      'kinds that are no list',
      define({ writtenAs: { existing: 'alloc' } }),
      'writtenAs must be an object of arrays of kinds of events',
    ],
    ['an option', define({ encodeOptions: { level: 5 } }), 'encodeOptions must be an object of options such as'],
    ['a field', () => fieldSet('sise' as never), 'fieldSet: unknown field "sise" (did you mean "size"?)'],
    ['a field of Object', () => fieldSet('constructor' as never), 'fieldSet: unknown field "constructor"'],
    [
      'a field of groups',
      () => groupFieldSet('wieght' as never),
      'groupFieldSet: unknown field "wieght" (did you mean "weight"?)',
    ],
  ])('does not know %s', (_, make, message) => {
    expect(make).toThrow(RangeError)
    expect(make).toThrow(message)
  })

  test.each(['carried', 'sniff'])('needs %s', (name) => {
    expect(define({ [name]: undefined })).toThrow(new TypeError(`defineFormat: ${name} is missing`))
  })

  test('does not take the name endings of another', () => {
    const format = defineFormat({ ...base, name: 'mine', extensions: ['.mine', '.MTRC'] })
    expect(() => registerFormat(format)).toThrow(
      new RangeError('the format mine has names that end in .mtrc, as mtrc has already'),
    )
  })
})
