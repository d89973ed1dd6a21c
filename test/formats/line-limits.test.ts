import { describe, expect, test } from 'vitest'
import type { Decoder } from '../../lib/event/stage.js'
import { MtraceDecoder } from '../../lib/formats/glibc-mtrace/decode.js'
import { MAX_LINE as GLIBC } from '../../lib/formats/glibc-mtrace/layout.js'
import { HeapmonDecoder } from '../../lib/formats/heapmon/decode.js'
import { MAX_LINE as HEAPMON } from '../../lib/formats/heapmon/layout.js'
import { HeaptrackDecoder } from '../../lib/formats/heaptrack/decode.js'
import { MAX_LINE as HEAPTRACK } from '../../lib/formats/heaptrack/layout.js'
import { LtraceDecoder } from '../../lib/formats/ltrace/decode.js'
import { MAX_LINE as LTRACE } from '../../lib/formats/ltrace/layout.js'
import { NdjsonDecoder } from '../../lib/formats/ndjson/decode.js'
import { MAX_LINE_BYTES as NDJSON } from '../../lib/formats/ndjson/layout.js'
import { ReplayDecoder } from '../../lib/formats/replay/decode.js'
import { MAX_LINE as REPLAY } from '../../lib/formats/replay/layout.js'
import { TracepointsDecoder } from '../../lib/formats/tracepoints/decode.js'
import { MAX_LINE as TRACEPOINTS } from '../../lib/formats/tracepoints/layout.js'
import { ValgrindDecoder } from '../../lib/formats/valgrind/decode.js'
import { MAX_LINE as VALGRIND } from '../../lib/formats/valgrind/layout.js'
import { decodeAll } from '../support/drive.js'

interface Lines {
  decoder: () => Decoder
  /** The bytes of the longest line, without its line feed. */
  longest: number
  /** What comes before and after the line, and the number of events before it. */
  head: string
  events: number
  tail?: string
  /** The line, which is filled up between these. */
  line: readonly [before: string, after: string, filling?: string]
  /** Whether the line gives an event. Default true. */
  isEvent?: boolean
  /** By how many bytes other lines are longer. */
  longer?: readonly number[]
}

const KFREE = 'ls-1 [000] 1.000000: kfree: call_site=f+0x1/0x2 ptr=0000000000000010'
const END = '{"kind":"end","events":2}\n'
const NDJSON_HEAD = '{"kind":"header","format":"x"}\n{"kind":"free","address":"0x1"}\n'
const ndjson = { decoder: () => new NdjsonDecoder(), longest: NDJSON, head: NDJSON_HEAD, events: 1, tail: END }
const HEAPTRACK_HEAD = 'v 10500 3\nX x\na 8 0\n+ 0\n'
const heaptrack = { decoder: () => new HeaptrackDecoder(), longest: HEAPTRACK, head: HEAPTRACK_HEAD, events: 1 }
const mtrace = { decoder: () => new MtraceDecoder(), longest: GLIBC - 1, head: '= Start\n+ 0x10 0x8\n', events: 1 }

const LINES: Record<string, Lines> = {
  'ndjson, an event': { ...ndjson, line: ['{"kind":"alloc","size":8', '}'] },
  'ndjson, a text': { ...ndjson, line: ['{"kind":"comment","text":"', '"}', 'x'] },
  'ndjson, spaces': { ...ndjson, line: ['', ''], isEvent: false, tail: END.replace('2', '1') },
  'ndjson, a header': {
    ...ndjson,
    head: '',
    events: 0,
    line: ['{"kind":"header","format":"', '"}', 'x'],
    isEvent: false,
    tail: END.replace('2', '0'),
  },
  'replay, an event': {
    decoder: () => new ReplayDecoder(),
    longest: REPLAY - 1,
    head: '5: free 0x1\n',
    events: 1,
    line: ['5: free', ' 0x2'],
  },
  'glibc-mtrace, a comment': { ...mtrace, line: ['x', '', 'x'] },
  'glibc-mtrace, an event': { ...mtrace, line: ['@ f', ':[0x10] + 0x20 0x8', 'f'] },
  'heaptrack, a comment': { ...heaptrack, line: ['#', '', 'x'] },
  'heaptrack, a command': {
    ...heaptrack,
    head: 'v 10500 3\n',
    events: 0,
    line: ['X ', '', 'x'],
    tail: 'a 8 0\n+ 0\n',
  },
  'heapmon, an event': {
    decoder: () => new HeapmonDecoder(),
    longest: HEAPMON - 1,
    head: '2-7\t5\t0x10\tdel\tnovtbl\n',
    events: 1,
    line: ['1-1\t1\t0x1\tdel\tT\t', '', 'f'],
  },
  'tracepoints, an event': {
    decoder: () => new TracepointsDecoder(),
    longest: TRACEPOINTS - 1,
    head: `${KFREE}\n`,
    events: 1,
    line: [KFREE, ''],
  },
  'ltrace, a call': {
    decoder: () => new LtraceDecoder(),
    longest: LTRACE - 1,
    head: '1 malloc(8) = 0x10\n',
    events: 1,
    line: ['1 malloc(8)', ' = 0x20'],
  },
  'valgrind, a call': {
    decoder: () => new ValgrindDecoder(),
    longest: VALGRIND - 1,
    head: '--7-- malloc(8) = 0x10\n',
    events: 1,
    line: ['--7-- malloc(', '8) = 0x20', '0'],
    // In a longer line, the call would not end within the bytes that are looked at.
    longer: [1, 2],
  },
}

const STEPS = [4093, 100_000, 1 << 26]

const decode = ({ decoder }: Lines, text: string, step: number) =>
  decodeAll(decoder(), new Uint8Array(Buffer.from(text)), step)

const isLarge = ([, { longest }]: [string, Lines]) => longest > 100_000

describe.each(Object.entries(LINES).filter((entry) => !isLarge(entry)))('%s', (_, format) => testLines(format))
describe.each(Object.entries(LINES).filter(isLarge))('%s', { tags: ['slow'] }, (_, format) => testLines(format))

function testLines(format: Lines): void {
  const { longest, head, events, tail = '', line, isEvent = true, longer } = format
  const [before, after, filling = ' '] = line
  const text = (length: number, end = '\n') =>
    `${head}${before}${filling.repeat(length - before.length - after.length)}${after}${end}`

  test.each([longest - 1, longest])('a line of %i bytes is read', (length) => {
    for (const step of STEPS) {
      const { events: read, error } = decode(format, text(length) + tail, step)
      expect(error).toBeUndefined()
      expect(read).toHaveLength(events + (isEvent ? 1 : 0))
    }
  })

  test.each(longer ?? [1, 2, 70_000, longest + 1])(
    'one that is longer by %i bytes is not, after the events before it',
    (more) => {
      const line = head.split('\n').length
      const place = { code: 'ERR_TRACE_LIMIT', line, offset: head.length, event: events + 1 }
      for (const step of STEPS)
        for (const input of [text(longest + more) + tail, text(longest + 1 + more, '')]) {
          const { events: read, error } = decode(format, input, step)
          expect(error).toMatchObject(place)
          expect(read).toHaveLength(events)
        }
    },
  )
}
