import { describe, expect, test } from 'vitest'
import { EventBatch } from '../../../lib/event/batch.js'
import { HeaptrackDecoder } from '../../../lib/formats/heaptrack/decode.js'
import { HeaptrackEncoder } from '../../../lib/formats/heaptrack/encode.js'
import {
  headerOf,
  MAX_ENTRIES,
  MAX_NAMES,
  MAX_NODES,
  MAX_STRING_BYTES,
  MAX_STRINGS,
} from '../../../lib/formats/heaptrack/layout.js'

const HEAD = 'v 10500 3\nX x\n'
/** An event, with definitions that it uses; another one follows what is repeated. */
const FIRST = 'a 8 0\n+ 0\n'
const LAST = '+ 0\n'

const STRING = 0xf000
const NAMES = 1024

interface Definitions {
  line: string
  /** The number of lines that are read. */
  most: number
  /** What comes before the first. */
  before?: string
}

const DEFINITIONS: Record<string, Definitions> = {
  strings: { line: 's 1 a\n', most: MAX_STRINGS },
  'bytes of strings': { line: `s f000 ${'x'.repeat(STRING)}\n`, most: Math.floor(MAX_STRING_BYTES / STRING) },
  instructions: { line: 'i 1 0\n', most: MAX_ENTRIES },
  'names of instructions': { line: `i 1${' 0'.repeat(NAMES)}\n`, most: Math.floor(MAX_NAMES / NAMES) },
  'nodes of the tree': { line: 't 1 0\n', most: MAX_NODES, before: 'i 1 0\n' },
  // One is that of the event before.
  infos: { line: 'a 8 0\n', most: MAX_NODES - 1 },
}

describe.each(Object.entries(DEFINITIONS))('the limit of %s', { tags: ['large'] }, (_, { line, most, before = '' }) => {
  const lines = Math.ceil(65_536 / line.length)
  const block = Buffer.from(line.repeat(lines))

  /** What is read of a file with so many of the lines. */
  function read(count: number) {
    const decoder = new HeaptrackDecoder()
    let events = 0
    let last: string | undefined
    const feed = (bytes: Buffer) => {
      decoder.feed(new Uint8Array(bytes))
      for (let batch = decoder.next(); batch !== null; batch = decoder.next()) {
        if (batch.count > 0) last = batch.event(batch.count - 1).kind
        events += batch.count
        batch.recycle()
      }
    }
    try {
      feed(Buffer.from(HEAD + FIRST + before))
      for (let left = count; left > 0; left -= lines) feed(left >= lines ? block : Buffer.from(line.repeat(left)))
      feed(Buffer.from(LAST))
      decoder.end()
      return { events, last, next: decoder.next() }
    } catch (error) {
      return { events, last, error }
    }
  }

  test('is reached and not exceeded', () => {
    expect(read(most)).toMatchObject({ last: 'alloc', next: null })
    const { events, error } = read(most + 1)
    const offset = HEAD.length + FIRST.length + before.length + most * line.length
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', offset, event: events + 1 })
    expect(events).toBeGreaterThan(0)
  })
})

test('an encoder has the same limit, and says at which event', { tags: ['large'] }, () => {
  const header = headerOf({ raw: false, heaptrack: '1.5.0', version: 3 })
  const encoder = new HeaptrackEncoder()
  const give = (batch: EventBatch) => {
    encoder.feed(batch)
    for (let chunk = encoder.next(); chunk !== null; chunk = encoder.next());
  }
  // Definitions of strings, which nothing uses, are comments.
  const batch = new EventBatch(4096, 0, header)
  for (let i = 0; i < 4096; i++) batch.push({ kind: 'comment', text: 's 1 a' })
  for (let i = 0; i < MAX_STRINGS / 4096; i++) give(batch)
  const events = new EventBatch(3, 0, header)
  events.push({ kind: 'alloc', address: 16n, size: 8n, time: 0n })
  events.push({ kind: 'alloc', address: 32n, size: 8n, time: 0n, stack: ['a'] })
  events.push({ kind: 'alloc', address: 48n, size: 8n, time: 0n, stack: ['b'] })
  expect(() => give(events)).toThrow(
    expect.objectContaining({ code: 'ERR_TRACE_LIMIT', format: 'heaptrack', event: MAX_STRINGS + 3 }),
  )
})
