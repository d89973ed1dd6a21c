import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { hatfAscii } from '../../../lib/metatf/hatf-ascii/index.js'
import { formatOfPath } from '../../../lib/formats/index.js'
import { sniffFormat } from '../../support/formats.js'
import { decodeAll, encodeEvents } from '../../support/drive.js'

const HEAD = '## DTDURL: hatf.dtd\n## Description: Converted to HATF by heapflow.\n\n'

describe('HATF in ASCII', () => {
  it.each<[TraceEvent, string, Record<string, number>]>([
    [
      { kind: 'alloc', api: 'malloc', thread: 1n, time: 2n, size: 16n, address: 4096n },
      '1 16 0x1000',
      { api: 1, thread: 1, time: 1 },
    ],
    [{ kind: 'alloc', address: 4096n }, '1 0 0x1000', { 'no size, written as 0 or empty': 1 }],
    [{ kind: 'existing', size: 16n, address: 4096n }, '1 16 0x1000', { 'existing blocks, written as allocations': 1 }],
    [{ kind: 'free', address: 4096n, size: 16n }, '2 0x1000', { 'size of free': 1 }],
    [{ kind: 'realloc', size: 8n, oldAddress: 4096n, address: 4096n }, '3 8 0x1000 0x1000', {}],
    [{ kind: 'realloc', size: 8n, oldAddress: 4096n, address: 8192n }, '4 8 0x1000 0x2000', {}],
    [{ kind: 'realloc', size: 8n, oldAddress: 4096n, address: 4096n, outcome: 'moved' }, '4 8 0x1000 0x1000', {}],
    [{ kind: 'realloc', size: 8n, oldAddress: 0n, address: 8192n }, '5 8 0x0 0x2000', {}],
    [{ kind: 'realloc', size: 0n, oldAddress: 4096n, address: 0n }, '6 0 0x1000 0x0', {}],
    [{ kind: 'realloc', size: 8n, address: 8192n }, '3 8 0x0 0x2000', { 'no oldAddress, written as 0 or empty': 1 }],
    [{ kind: 'heap-create', heap: 1n }, '7', { heap: 1 }],
    [{ kind: 'comment', text: 'x' }, '', { 'comment events': 1 }],
    [{ kind: 'other', type: 'alloc', code: 1 }, '', { 'other events': 1 }],
  ])('%o of another format', (event, line, losses) => {
    const encoder = hatfAscii.encoder()
    const text = Buffer.from(encodeEvents(encoder, [event], { format: 'any', timeUnit: 'ns' })).toString()
    expect(text).toBe(`${HEAD}${line}${line === '' ? '' : '\n'}`)
    expect(Object.fromEntries(encoder.losses.counts)).toEqual(losses)
    expect(sniffFormat(Buffer.from(text))?.name).toBe('hatf-ascii')
  })

  it('makes losses errors when told to, behind the lines before', () => {
    const encoder = hatfAscii.encoder({ strict: true })
    const text = Buffer.from(encodeEvents(encoder, [{ kind: 'free', address: 1n }], { format: 'any' })).toString()
    expect(text).toBe(`${HEAD}2 0x1\n`)
    expect(() =>
      encodeEvents(hatfAscii.encoder({ strict: true }), [{ kind: 'free', address: 1n }, { kind: 'free' }], {
        format: 'any',
      }),
    ).toThrow('hatf-ascii: event 2: no address, written as 0 or empty')
    expect(() =>
      encodeEvents(hatfAscii.encoder({ strict: true }), [{ kind: 'free', address: 1n, thread: 1n }], { format: 'any' }),
    ).toThrow('hatf-ascii: event 1: cannot represent thread of free events')
  })

  it('gives a header for an empty stream', () => {
    expect(decodeAll(hatfAscii.decoder(), new Uint8Array(0))).toMatchObject({
      events: [],
      headers: [{ format: 'hatf-ascii', layout: { head: '' } }],
    })
  })

  it('gives out what it has when a chunk is used up', () => {
    const decoder = hatfAscii.decoder()
    for (const [line, events] of [
      ['## A: b\n', null],
      ['\n', 0],
      ['1 16 0x10\n', 1],
      ['2 0x', null],
      ['10\n2 0x10\n', 2],
    ] as const) {
      decoder.feed(Buffer.from(line))
      expect(decoder.next()?.count ?? null).toBe(events)
      expect(decoder.next()).toBeNull()
    }
  })

  it('is told by its ending and by its first lines', () => {
    expect(formatOfPath('x.HATF.txt.gz')?.name).toBe('hatf-ascii')
    expect(formatOfPath('x.hatf')?.name).toBe('hatf')
    expect(formatOfPath('x.txt')?.name).toBe('replay')
    expect(formatOfPath('x.dat')).toBeUndefined()
    const sniff = (text: string) => hatfAscii.sniff(Buffer.from(text))
    for (const text of [
      '## A: b\n',
      '## A: b\n\n1 16 0x10\n',
      '## A: b\r\n\r\n10\r\n',
      '## A: b\n2 0x1',
      '## DTDURL: x/hatf.dtd\n\n',
      '## Tracename: x\n## Au',
    ]) {
      expect(sniff(text)).toBe(true)
    }
    for (const text of [
      '',
      '1 16 0x10\n',
      '# A: b\n',
      '## A\n1 16 0x10\n',
      '## A: b\n\n11 5\n',
      '## A: b\n\nx\n',
      '## DTDname: b\n',
      '## MetaTF: 1.2\n',
      '## DTDURL: other.dtd\n\n1 2\n',
    ]) {
      expect(sniff(text)).toBe(false)
    }
  })
})
