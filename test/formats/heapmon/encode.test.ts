import { describe, expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { HeapmonEncoder, type HeapmonEncodeOptions } from '../../../lib/formats/heapmon/encode.js'
import { headerOf } from '../../../lib/formats/heapmon/layout.js'
import { drive, encodeEvents } from '../../support/drive.js'
import { lossesBut } from '../../support/losses.js'
import { decode } from './text.js'

const US: TraceHeader = { format: 'any', timeUnit: 'us' }
const TAB_HEADER_ROW = 'Thread\tTime of event\tAddress\tSize\tType\tStack crawl\n'

/** The text of events, and what was lost in it. */
function encode(
  events: TraceEvent[],
  header = US,
  options?: HeapmonEncodeOptions,
): { text: string; losses: Record<string, number> } {
  const encoder = new HeapmonEncoder(options)
  const text = Buffer.from(encodeEvents(encoder, events, header)).toString('latin1')
  return { text, losses: lossesBut(['api'], encoder.losses.counts) }
}

const alloc: TraceEvent = { kind: 'alloc', time: 5n, address: 16n, size: 3n }
const free: TraceEvent = { kind: 'free', time: 5n, address: 16n }
/** The lines of these two. */
const NEW_LINE = '0-0\t5\t0x10\t3\tnovtbl\n'
const DEL_LINE = '0-0\t5\t0x10\tdel\tnovtbl\n'

describe('encoding events of other formats', () => {
  it.each<[string, TraceEvent, string, Record<string, number>]>([
    ['alloc', alloc, NEW_LINE, {}],
    ['free', free, DEL_LINE, {}],
    ['existing', { kind: 'existing', address: 16n, size: 3n }, '0-0\told\t0x10\t3\tnovtbl\n', {}],
    [
      'existing with a time',
      { kind: 'existing', address: 16n, size: 3n, time: 5n },
      '0-0\told\t0x10\t3\tnovtbl\n',
      { 'time of existing': 1 },
    ],
    ['thread only', { ...alloc, thread: 7n }, `0-7${NEW_LINE.slice(3)}`, {}],
    ['process only', { ...alloc, process: 7n }, `7-0${NEW_LINE.slice(3)}`, {}],
    [
      'zeros',
      { ...alloc, process: 0n, thread: 0n },
      NEW_LINE,
      { 'process 0, which stands for none': 1, 'thread 0, which stands for none': 1 },
    ],
    ['no time', { kind: 'free', address: 16n }, '0-0\t0\t0x10\tdel\tnovtbl\n', { 'no time, written as 0': 1 }],
    ['no size', { kind: 'alloc', time: 5n, address: 16n }, '0-0\t5\t0x10\t0\tnovtbl\n', { 'no size, written as 0': 1 }],
    [
      'no address',
      { kind: 'alloc', index: 1n, time: 5n, size: 3n },
      '',
      { index: 1, 'allocations without an address': 1 },
    ],
    ['free without address', { kind: 'free', index: 1n, time: 5n }, '', { index: 1, 'frees without an address': 1 }],
    ['malloc', { ...alloc, api: 'malloc' }, NEW_LINE, { 'api malloc, written as new': 1 }],
    ['free by free', { ...free, api: 'free' }, DEL_LINE, { 'api free, written as delete': 1 }],
    ['size of free', { ...free, size: 3n }, DEL_LINE, { 'size of free': 1 }],
    ['no place', { kind: 'comment', text: 'x' }, '', { 'comment events': 1 }],
    ['file and line', { ...free, file: 'a.c', line: 3 }, DEL_LINE, { file: 1, line: 1 }],
    [
      'function',
      { ...free, function: 'main' },
      `${DEL_LINE.slice(0, -1)}\tmain\n`,
      { 'function, written as a stack of one frame': 1 },
    ],
    [
      'function and stack',
      { ...free, function: 'f', stack: ['g'] },
      `${DEL_LINE.slice(0, -1)}\tg\n`,
      { 'function of events that have a stack': 1 },
    ],
    ['type of alloc', { ...alloc, type: 'T' }, '0-0\t5\t0x10\t3\tT\n', {}],
  ])('%s', (_, event, text, losses) => {
    expect(encode([event])).toEqual({ text, losses })
  })

  const TYPE_SPACED = 'spaces and line ends in types, written as single spaces'
  const TYPE_OUT = 'types that would be read as another, left out'
  it.each<[string, string, string | undefined]>([
    ['unsigned long', 'unsigned long', undefined],
    ['a  b', 'a b', TYPE_SPACED],
    [' a\tb\n', 'a b', TYPE_SPACED],
    ['a\r', 'a', TYPE_SPACED],
    ['a\rb', 'a\rb', undefined],
    ['', 'novtbl', TYPE_OUT],
    [' \n', 'novtbl', TYPE_OUT],
    ['novtbl', 'novtbl', TYPE_OUT],
    ['novtbl ', 'novtbl', TYPE_OUT],
    ['novtbl x', 'novtbl', TYPE_OUT],
    ['notype x', 'novtbl', TYPE_OUT],
    ['notype', 'notype', undefined],
    ['x'.repeat(65_537), 'novtbl', TYPE_OUT],
  ])('type %j', (type, written, loss) => {
    const expected = { text: DEL_LINE.replace('novtbl', written), losses: loss === undefined ? {} : { [loss]: 1 } }
    expect(encode([{ ...free, type }])).toEqual(expected)
  })

  const STACK_SPACED = 'spaces and line ends in stacks, written as single spaces'
  const STACK_OUT = 'stacks that would be read as another, left out'
  it.each<[string[], string | undefined, string | undefined]>([
    [['f(int, char)', 'main'], 'f(int, char)|main', undefined],
    [['operator|', 'operator|=(int)', 'main'], 'operator||operator|=(int)|main', undefined],
    [['a  b', 'c\td'], 'a  b|c\td', undefined],
    [[' a ', 'b '], 'a|b', STACK_SPACED],
    [['a\nb'], 'a b', STACK_SPACED],
    [['', ''], '|', undefined],
    [[], undefined, STACK_OUT],
    [[''], undefined, STACK_OUT],
    [['a|b', 'c'], undefined, STACK_OUT],
    [['operator', '=(x)'], undefined, STACK_OUT],
    [['operator', '=x'], 'operator|=x', undefined],
    [['operator|', '(anonymous namespace)::f()'], undefined, STACK_OUT],
    [['operator', '(anonymous namespace)::f()'], undefined, STACK_OUT],
    [['f'.repeat(1 << 20)], undefined, STACK_OUT],
  ])('stack %j', (stack, written, loss) => {
    const text = `${DEL_LINE.slice(0, -1)}${written === undefined ? '' : `\t${written}`}\n`
    expect(encode([{ ...free, stack }])).toEqual({ text, losses: loss === undefined ? {} : { [loss]: 1 } })
  })

  const BOTH = 'reallocs, written as free and alloc'
  const OF_NULL = 'reallocs of null, written as allocs'
  const TO_NOTHING = 'reallocs to nothing, written as frees'
  const NOWHERE = 'reallocs without an address'
  const UNKNOWN = 'reallocs of unknown blocks, written as allocs'
  it.each<[TraceEvent['outcome'], bigint | undefined, bigint | undefined, string, string]>([
    [undefined, 16n, 32n, '0x20 del 0x10 4', BOTH],
    ['moved', 16n, 32n, '0x20 del 0x10 4', BOTH],
    ['none', 16n, 16n, '0x10 del 0x10 4', BOTH],
    ['none', 16n, undefined, '0x10 del 0x10 4', BOTH],
    ['none', undefined, 2n ** 40n, '0x10000000000 del 0x10000000000 4', BOTH],
    [undefined, 16n, 0n, '0x10 4', OF_NULL],
    ['allocated', 16n, undefined, '0x10 4', OF_NULL],
    ['allocated', 16n, 32n, '0x10 4', OF_NULL],
    ['freed', 0n, 16n, '0x10 del', TO_NOTHING],
    ['freed', undefined, 16n, '0x10 del', TO_NOTHING],
    ['freed', 32n, 16n, '0x10 del', TO_NOTHING],
    [undefined, 0n, 16n, '', 'failed reallocs'],
    [undefined, 0n, 0n, '', 'reallocs of null to null'],
    ['freed', undefined, undefined, '', NOWHERE],
    ['moved', 16n, undefined, '0x10 4', UNKNOWN],
    [undefined, undefined, 16n, '', NOWHERE],
    ['none', undefined, undefined, '', NOWHERE],
  ])('realloc %s to %s from %s', (outcome, address, oldAddress, lines, loss) => {
    const event: TraceEvent = {
      kind: 'realloc',
      api: 'realloc',
      thread: 7n,
      time: 5n,
      size: 4n,
      stack: ['f'],
      ...(outcome && { outcome }),
      ...(address !== undefined && { address }),
      ...(oldAddress !== undefined && { oldAddress }),
    }
    const text = lines.replace(/(\S+) (\S+) ?/g, '0-7\t5\t$1\t$2\tnovtbl\tf\n')
    expect(encode([event])).toEqual({ text, losses: { [loss]: 1 } })
  })

  it('frees what is reallocated to size 0 and nothing', () => {
    expect(encode([{ kind: 'realloc', time: 5n, address: 0n, oldAddress: 16n, size: 0n }]).text).toBe(DEL_LINE)
  })

  it('turns nanoseconds into microseconds', () => {
    const ns: TraceHeader = { format: 'replay', timeUnit: 'ns' }
    const times = [0n, 999n, 1000n, 2n ** 32n * 1000n, 759537687555872000n, 2n ** 63n, 2n ** 64n - 1n]
    const { text, losses } = encode(
      times.map((time) => ({ ...free, time })),
      ns,
    )
    expect(text.match(/(?<=-0\t)\d+/g)).toEqual(times.map((time) => String(time / 1000n)))
    expect(losses).toEqual({ 'times between microseconds, rounded down': 3 })
  })
})

describe('layouts', () => {
  it('has tabs and no header row if nothing else is asked for', () => {
    expect(encode([free]).text).toBe(DEL_LINE)
    expect(encode([free], { ...US, layout: { headerRow: true, separator: 'spaces' } }).text).toBe(DEL_LINE)
    expect(encode([free], US, { headerRow: true }).text).toBe(TAB_HEADER_ROW + DEL_LINE)
  })

  it('is asked for by the header, and by options before it', () => {
    const header = headerOf({ headerRow: true, separator: 'spaces', indent: 2 })
    const text =
      '  Thread      Time of event       Address     Size    Type            Stack crawl\n' +
      '  0-0         5                   0x10        del     novtbl\n'
    expect(encode([free], header).text).toBe(text)
    expect(encode([free], header, { separator: 'tab' }).text).toBe(`  ${TAB_HEADER_ROW}  ${DEL_LINE}`)
    expect(
      encode([free], headerOf({ headerRow: false, separator: 'tab', indent: 0 }), {
        headerRow: true,
        separator: 'spaces',
      }).text,
    ).toBe(text.replace(/^ {2}/gm, ''))
  })

  it('ignores a layout that makes no sense', () => {
    const layouts: NonNullable<TraceHeader['layout']>[] = [
      { indent: -1 },
      { indent: 1e9 },
      { indent: 1.5 },
      { indent: '2' },
      { separator: 3, headerRow: 'no' },
      {},
    ]
    for (const layout of layouts) {
      expect(encode([free], { format: 'heapmon', timeUnit: 'us', layout }).text).toBe(DEL_LINE)
    }
  })

  it('keeps columns that are too wide two spaces apart', () => {
    const header = headerOf({ headerRow: false, separator: 'spaces', indent: 0 })
    const max = 2n ** 64n - 1n
    const event: TraceEvent = {
      ...alloc,
      process: max,
      thread: max,
      time: max,
      address: max,
      size: max,
      type: 'a type of many words',
      stack: ['f'],
    }
    const { text } = encode([event], header)
    expect(text.split(/ {2,}/)).toEqual([
      `${max}-${max}`,
      `${max}`,
      '0xffffffffffffffff',
      `${max}`,
      'a type of many words',
      'f\n',
    ])
    expect(decode(text).events).toEqual([{ ...event, api: 'new' }])
  })

  it('writes the header row even if there are no events', () => {
    const { out } = drive(
      new HeapmonEncoder(),
      batchesOf([], headerOf({ headerRow: true, separator: 'tab', indent: 0 })),
    )
    expect(Buffer.concat(out).toString()).toBe(TAB_HEADER_ROW)
  })

  it('counts the beginning of another trace where no header row shows it', () => {
    const headers = [US, { ...US }, headerOf({ headerRow: true, separator: 'tab', indent: 0 })]
    const encoder = new HeapmonEncoder()
    const { out } = drive(
      encoder,
      headers.flatMap((header) => batchesOf([free], header)),
    )
    expect(Buffer.concat(out).toString()).toBe(DEL_LINE + DEL_LINE + TAB_HEADER_ROW + DEL_LINE)
    expect(lossesBut(['api'], encoder.losses.counts)).toEqual({ 'beginning of another trace': 1 })
  })
})

describe('strict encoding', () => {
  const free: TraceEvent = { kind: 'free', api: 'delete', time: 5n, address: 16n }

  it.each<[string, TraceEvent, string]>([
    ['a field without a place', { ...free, cpu: 1 }, 'cannot represent cpu of free events'],
    ['a missing api', { kind: 'alloc', time: 5n, address: 1n, size: 3n }, 'no api, written as new'],
    ['a realloc', { kind: 'realloc', time: 5n, address: 1n, oldAddress: 2n, size: 3n }, 'reallocs, written as'],
    ['a type', { ...free, type: 'a\tb' }, 'spaces and line ends in types'],
  ])('stops at %s, behind all lines before it', (_, event, message) => {
    const encoder = new HeapmonEncoder({ strict: true })
    const { out, error } = drive(encoder, [...batchesOf([free, free], US), ...batchesOf([free, event, free], US)])
    expect(Buffer.concat(out).toString()).toBe(DEL_LINE.repeat(3))
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', format: 'heapmon', event: 4 })
    expect(error?.message).toContain(message)
  })
})
