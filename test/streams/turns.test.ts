import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addAbortSignal, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, test } from 'vitest'
import {
  compact,
  decodeAny,
  events,
  generate,
  merge,
  openTrace,
  stats,
  type TraceSource,
} from '../../lib/entry/index.js'
import { scratch } from '../support/commands.js'
import { encodeEvents } from '../support/drive.js'
import { format } from '../../lib/entry/compact.js'

/** Events that come without waiting, for a second at most. */
function* made(): Generator<{ kind: 'alloc'; size: bigint }> {
  const end = Date.now() + 1000
  while (Date.now() < end) yield { kind: 'alloc', size: 8n }
}

const signal = () => AbortSignal.timeout(5)

test.each<[string, () => Promise<unknown>]>([
  ['generate()', () => pipeline(generate({ model: 'larson', events: 3e6 }), stats(), { signal: signal() })],
  ['events()', () => drained(events(made() as TraceSource, { signal: signal() }))],
  ['merge()', () => drained(merge(made(), made(), { endToEnd: true, signal: signal() }))],
])('timers run, and so abort, while %s has results without waiting for input', async (_, run) => {
  await expect(run()).rejects.toMatchObject({ name: 'AbortError' })
})

const ONE = { kind: 'alloc', size: 8n } as const
const MANY = Array.from({ length: 1_500_000 }, () => ONE)
const LONG = encodeEvents(format.encoder(), MANY, { format: 'made' })

test.each<[string, (signal: AbortSignal) => AsyncIterable<unknown>]>([
  [
    'openTrace()',
    (signal) => {
      const path = join(scratch(), 'long.hfc')
      writeFileSync(path, LONG)
      return openTrace(path, { signal })
    },
  ],
  ['compact.decode()', (signal) => addAbortSignal(signal, Readable.from([LONG]).pipe(compact.decode()))],
  ['decodeAny()', (signal) => addAbortSignal(signal, Readable.from([LONG]).pipe(decodeAny()))],
])('timers run between the many batches of one compact chunk in %s', async (_, open) => {
  const aborter = new AbortController()
  let batches = 0
  const read = async () => {
    for await (const _ of open(aborter.signal)) if (batches++ === 0) setTimeout(() => aborter.abort(), 1)
  }
  await expect(read()).rejects.toMatchObject({ name: 'AbortError' })
})

async function drained(source: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of source) continue
}
