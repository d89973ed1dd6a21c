import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DtdError, parseDtd, printDtd } from '../../lib/metatf/index.js'
import { corpusFile } from '../support/corpus.js'
import { runs } from '../support/runs.js'
import { randomDtd } from './random.js'
import { withoutPlaces } from './support.js'

const hatf10 = readFileSync(new URL('../../examples/hatf10.dtd', import.meta.url), 'utf8')

/** Whether a DTD is the same after it was printed and parsed. */
function comesBack(text: string | Uint8Array): void {
  const dtd = parseDtd(text)
  expect(withoutPlaces(parseDtd(printDtd(dtd), 'printed.dtd'))).toEqual(withoutPlaces(dtd))
}

describe('printDtd', () => {
  test('gives what parses to the same: HATF', () => comesBack(hatf10))

  test('gives what parses to the same: mpatrol', { tags: ['corpus'] }, () =>
    comesBack(corpusFile('hatf-ascii/hatf.dtd')),
  )

  test('gives what parses to the same: anything', () => {
    fc.assert(fc.property(randomDtd, comesBack), { numRuns: runs(300) })
  })

  test('writes 1.0', () => {
    const text = `tag.width = 1;
a : (tag, x, (y, x), n, n * (text : vfield)) {
  tag.value = 4;
  x.width = 2;
  x.interpretation = delta 5;
  y.width = 1;
  y.interpretation = none;
  n.width = 1;
  n.interpretation = none;
}
`
    expect(printDtd(parseDtd(text))).toBe(text)
  })

  test('writes 1.2, and its version', () => {
    expect(printDtd(parseDtd('string text = none;\nsection s 1 { a : {tag, text} { tag = 0x10; } }')))
      .toBe(`## MetaTF: 1.2
section s 1 {
  a : {tag, text} {
    tag = 16;
    string text = none;
  }
}
`)
  })
})

describe('parseDtd', () => {
  test('takes any text, or throws a DtdError', () => {
    const symbols = [
      '(',
      ')',
      '{',
      '}',
      ':',
      ';',
      '.',
      ',',
      '*',
      '=',
      '"',
      '//',
      '/*',
      '*/',
      '##',
      '-',
      '\n',
      'é',
      '\u0000',
    ]
    const put = fc.constantFrom('', ...symbols, ' int ', ' section ', 'tag', 'size', 'none', '1')
    const edits = fc.array(fc.record({ at: fc.nat(hatf10.length), drop: fc.nat(20), put }), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(edits, (all) => {
        let text = hatf10
        for (const { at, drop, put } of all) text = text.slice(0, at) + put + text.slice(at + drop)
        try {
          parseDtd(text)
        } catch (error) {
          expect(error).toBeInstanceOf(DtdError)
        }
      }),
      { numRuns: runs(500) },
    )
  })
})
