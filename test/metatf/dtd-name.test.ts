import { describe, expect, test } from 'vitest'
import { formatFileHeader } from '../../lib/entry/metatf.js'
import { announcementOf, dtdFile, isAnnounced, isNameOf, isTelling, lastPart } from '../../lib/metatf/dtd-name.js'
import { stopwatch } from '../support/stopwatch.js'

const header = (dtd: string) =>
  formatFileHeader({
    addressSize: 64,
    byteOrder: 'little',
    dtd,
    start: 28 + dtd.length + 12,
    records: 0,
    sections: [{ id: 1, start: 28 + dtd.length + 12, size: 1 }],
  })
const ascii = (text: string) => Buffer.from(text)

describe('where a DTD is looked for', () => {
  test.each([
    ['x.dtd', 'x.dtd'],
    ['http://example.org/dtds/x.dtd', 'x.dtd'],
    ['http://example.org/x.dtd?version=1#top', 'x.dtd'],
    ['file:///etc/x.dtd', 'x.dtd'],
    ['/etc/x.dtd', 'x.dtd'],
    ['C:\\dtds\\x.dtd', 'x.dtd'],
    ['C:/dtds/x.dtd', 'x.dtd'],
    ['dtds/x.dtd', 'x.dtd'],
    ['./x.dtd', 'x.dtd'],
    ['../x.dtd', 'x.dtd'],
    ['dtds/../../x.dtd', 'x.dtd'],
    ['dtds\\..\\..\\x.dtd', 'x.dtd'],
    ['', undefined],
    ['.', undefined],
    ['..', undefined],
    ['dtds/', undefined],
    ['dtds/..', undefined],
    ['x\0.dtd', undefined],
    ['x\n.dtd', undefined],
    ['x\x7f.dtd', undefined],
    ['x\x9b.dtd', undefined],
    ['http://', undefined],
  ])('%j', (name, file) => {
    expect(dtdFile(name)).toBe(file)
  })

  test('names are compared by their last parts', () => {
    expect(isNameOf('http://example.org/HATF10.dtd', '/home/me/hatf10.dtd')).toBe(true)
    expect(isNameOf('hatf10-split.dtd', 'hatf10.dtd')).toBe(false)
    expect(lastPart('a/b\\c?d')).toBe('c?d')
  })
})

describe('what a trace says of its DTD', () => {
  test('a header in binary', () => {
    const bytes = header('x.dtd')
    expect(announcementOf(bytes)).toEqual({ form: 'binary', dtd: 'x.dtd' })
    expect(announcementOf(header(''))).toEqual({ form: 'binary', dtd: null })
    for (let length = 4; length <= bytes.length; length++) {
      const head = bytes.subarray(0, length)
      expect(isAnnounced(head)).toBe(true)
      expect(isTelling(head)).toBe(length === bytes.length)
      if (length < bytes.length) {
        expect(() => announcementOf(head)).toThrow(
          'metatf: byte 0, event 1: truncated: the trace ends inside its header',
        )
      }
    }
    const wrong = Uint8Array.from(bytes)
    wrong[4] = 3
    expect(isTelling(wrong)).toBe(true)
    expect(() => announcementOf(wrong)).toThrow('the class is 3')
  })

  test.each([
    ['## DTDURL: http://x.org/x.dtd\n\n1 2\n', 'http://x.org/x.dtd', true],
    ['## Tracename: a\r\n##dtdurl:x.dtd \r\n\r\n', 'x.dtd', true],
    ['## DTDURL: x.dtd\n4 5\n', 'x.dtd', true],
    ['## DTDURL: \t \n## DTDURL: \tx y.dtd \t\r\n\n1', 'x y.dtd', true],
    ['## DTDURL: x.dtd\n## More', 'x.dtd', false],
    ['## DTDURL: x.dtd\n', 'x.dtd', false],
    ['## Tracename: DTDURL: x.dtd\n\n1', null, true],
    ['## A: b\n\n## DTDURL: x.dtd\n', 'x.dtd', true],
    ['## DTD', null, false],
  ])('a head in ASCII: %j', (text, dtd, isWhole) => {
    expect(isAnnounced(ascii(text))).toBe(true)
    expect(announcementOf(ascii(text))).toEqual({ form: 'ascii', dtd })
    expect(isTelling(ascii(text))).toBe(isWhole)
  })

  test.each(['#', '# x: y\n', '##\n', '## no key\n', '1 2 0x3\n', '\x7fMTG', '\x04\x00\x01\x02'])(
    'records: %j',
    (text) => {
      expect(isAnnounced(ascii(text))).toBe(false)
      expect(announcementOf(ascii(text))).toBeNull()
    },
  )

  test('spaces without end take no time', () => {
    for (const text of [
      `## DTDURL: x${' '.repeat(65_000)}y\n`,
      `##${' '.repeat(65_000)}DTDURL:\n`,
      `## DTDURL:${' \t'.repeat(32_000)}\n`,
    ]) {
      const time = stopwatch()
      announcementOf(ascii(`${text}\n1 2\n`))
      expect(time()).toBeLessThan(1000)
    }
  })

  test('a head without end is not waited for', () => {
    expect(isTelling(ascii('## A: b\n'.repeat(8000)))).toBe(false)
    expect(isTelling(ascii('## A: b\n'.repeat(8200)))).toBe(true)
    expect(isTelling(ascii(`## ${'x'.repeat(70_000)}`))).toBe(true)
  })
})
