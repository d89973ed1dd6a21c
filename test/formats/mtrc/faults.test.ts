import { describe, expect, it } from 'vitest'
import { TraceError } from '../../../lib/event/error.js'
import { MAX_LEB } from '../../../lib/formats/mtrc/layout.js'
import { MtrcDecoder } from '../../../lib/formats/mtrc/index.js'
import { decodeAll } from '../../support/drive.js'
import { someOf } from '../../support/runs.js'
import { END, LP64, OLD, SMALL, hex, join } from './bytes.js'
import { mpatrolFile } from './mpatrol.js'

const decode = (bytes: Uint8Array, size?: number) => decodeAll(new MtrcDecoder(), bytes, size)

describe('a number', () => {
  // Free blocks, whose count has bytes that add nothing.
  const padded = (bytes: number) => join('H', hex(`81${'80'.repeat(bytes - 2)}00 02`))

  it.each([MAX_LEB - 1, MAX_LEB])('may have %i bytes', (length) => {
    for (const size of [1, 7, undefined]) {
      const { events, error } = decode(join(LP64, padded(2), padded(length), END), size)
      expect(error).toBeUndefined()
      expect(events[1]).toEqual(events[0])
    }
  })

  it('may not have more', () => {
    for (const size of [1, 7, undefined]) {
      const { events, error } = decode(join(LP64, padded(2), padded(MAX_LEB + 1), END), size)
      const offset = join(LP64, padded(2)).length
      expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', format: 'mtrc', offset, event: 2 })
      expect(events).toHaveLength(1)
    }
  })
})

describe('malformed records', () => {
  const good = join('H', hex('01 02'))
  const source = join('F', hex('01 00'))
  it.each([
    ['a record of unknown type', hex('58'), 'MALFORMED', /unknown type 0x58/],
    ['a record of type 0', hex('00'), 'MALFORMED', /unknown type 0x00/],
    ['M without the rest', join('MTRX'), 'MALFORMED', /unknown type 0x4d/],
    ['a number of 65 bits', join('H', hex('ffffffffffffffffff02')), 'MALFORMED', /64 bits/],
    ['a number of 71 bits', join('H', hex('8080808080808080808001')), 'MALFORMED', /64 bits/],
    ['bits behind padding', join('A', hex('80'.repeat(20)), hex('01')), 'MALFORMED', /64 bits/],
    ['padding without end', join('F', hex('80'.repeat(100))), 'LIMIT', /32 bytes/],
    ['a thread of 65 bits', join('F', hex('01 ffffffffffffffffff03')), 'MALFORMED', /64 bits/],
    ['a line of 33 bits', join(source, hex('00 00 8080808010')), 'LIMIT', /line/],
    ['a line of 65 bits', join(source, hex('00 00 ffffffffffffffffff03')), 'MALFORMED', /64 bits/],
    ['function entry 0 defined', join(source, hex('80 4100 00 00')), 'MALFORMED', /outside 1 to 32/],
    ['function entry 33', join(source, hex('21 00 00')), 'MALFORMED', /outside 1 to 32/],
    ['function entry 33 defined', join(source, hex('a1 4100 00 00')), 'MALFORMED', /outside 1 to 32/],
    ['a function not defined yet', join(source, hex('01 00 00')), 'MALFORMED', /not defined/],
    ['a file not defined yet', join(source, hex('81 4100 01 00')), 'MALFORMED', /not defined/],
    ['file entry 64', join(source, hex('00 40 00')), 'MALFORMED', /outside 1 to 32/],
    ['a name without end', join(source, hex('81'), 'x'.repeat(70_000)), 'LIMIT', /65536 bytes/],
    ['a name one byte too long', join(source, hex('81'), 'x'.repeat(65_537), hex('00 00 00')), 'LIMIT', /65536 bytes/],
  ])('%s', (_, bad, code, message) => {
    for (const size of [bad.length < 1000 ? 1 : 5000, 7 + bad.length, undefined]) {
      const { events, error } = decode(join(LP64, good, good, bad, END), size)
      expect(events).toHaveLength(2)
      expect(error).toBeInstanceOf(TraceError)
      expect(error).toMatchObject({ code: `ERR_TRACE_${code}`, format: 'mtrc', offset: 26, event: 3 })
      expect(error?.message).toMatch(message)
    }
  })

  it('names of the longest length are none', () => {
    const bytes = join(LP64, source, hex('81'), 'x'.repeat(65_536), hex('00 00 00'), END)
    for (const size of [4096, 65_536, undefined]) {
      const { events, error } = decode(bytes, size)
      expect(error).toBeUndefined()
      expect(events[0]?.function).toHaveLength(65_536)
    }
  })

  it('sources are no records before 1.4.5', () => {
    expect(decode(join(OLD, source, END)).error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: 14, event: 2 })
  })
})

describe('malformed traces', () => {
  it.each([
    ['no header', join('HATF'), 0],
    ['a header of no form', join('MTRC', hex('03000000')), 0],
    ['something behind the end marker', join(LP64, END, 'H'), 20],
    ['end marker and end marker', join(LP64, END, END, 'H'), 24],
    ['a header of no form behind the end marker', join(LP64, END, 'MTRC', hex('03')), 24],
    ['a header of no form in place of a record', join(LP64, 'MTRC', hex('0102')), 24],
  ])('%s', (_, bytes, at) => {
    for (const size of [1, undefined]) {
      const { events, error } = decode(bytes, size)
      expect(events).toEqual([])
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'mtrc', event: 1 })
      // Behind an end marker the fault is where the other trace should begin.
      expect([at, at + 4]).toContain((error as TraceError).offset)
    }
  })
})

/** Where each event of a trace ends, by the length of the shortest beginning that gives it. */
function expectTruncations(bytes: Uint8Array, size?: number): void {
  const whole = decode(bytes).events
  let before = 0
  for (let end = 0; end < bytes.length; end++) {
    const { events, error } = decode(bytes.subarray(0, end), size)
    expect(events).toEqual(whole.slice(0, events.length))
    expect(events.length).toBeGreaterThanOrEqual(before)
    expect(events.length - before).toBeLessThanOrEqual(1)
    before = events.length
    expect(error).toBeInstanceOf(TraceError)
    expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', format: 'mtrc', event: events.length + 1 })
    const { offset } = error as TraceError
    expect(offset).toBeLessThanOrEqual(end)
    // What was read whole ends where the fault begins: cut there, all those events are still given.
    expect(decode(bytes.subarray(0, offset)).events).toHaveLength(events.length)
  }
  expect(before).toBe(whole.length)
}

/** Whatever bit is wrong, the outcome is other events or a TraceError. */
function expectFlips(bytes: Uint8Array, size?: number): void {
  for (const bit of someOf(bytes.length * 8)) {
    const flipped = bytes.slice()
    flipped[bit >> 3] = flipped[bit >> 3] ^ (1 << (bit & 7))
    const { error } = decode(flipped, size)
    if (error !== undefined && !(error instanceof TraceError)) throw new Error(`bit ${bit}`, { cause: error })
  }
}

describe('truncation at every byte', () => {
  it.each([1, 5, undefined])('of a small trace in chunks of %s bytes gives what was whole, then an error', (size) => {
    expectTruncations(SMALL, size)
  })

  it('behind an end marker is an error unless nothing follows', () => {
    const bytes = join(SMALL, SMALL)
    for (let end = SMALL.length; end <= SMALL.length + LP64.length; end++) {
      const { events, error } = decode(bytes.subarray(0, end))
      expect(events).toHaveLength(7)
      if (end === SMALL.length) expect(error).toBeUndefined()
      else expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', event: 8 })
    }
  })

  it('of a real trace', { tags: ['slow'] }, () => expectTruncations(mpatrolFile('cxx64.mtrc')))
})

describe('a flipped bit anywhere', () => {
  it.each([1, undefined])('in a small trace in chunks of %s bytes', (size) => expectFlips(SMALL, size))
  it('in a real trace', { tags: ['slow'] }, () => expectFlips(mpatrolFile('cxx64.mtrc')))
})
