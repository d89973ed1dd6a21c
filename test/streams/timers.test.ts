import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { decodeAny, fromEvents } from '../../lib/entry/index.js'
import type { EventBatch } from '../../lib/event/batch.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

it('events that are written one at a time come out although timers do not run', async () => {
  const stream = fromEvents()
  stream.write({ kind: 'free', address: 16n })
  const [batch] = (await once(stream, 'data')) as [EventBatch]
  expect([...batch]).toEqual([{ kind: 'free', address: 16n }])
  stream.destroy()
})

it('a fault waits for a slow consumer, and comes out although timers do not run', async () => {
  const stream = decodeAny()
  stream.pipe(new Writable({ objectMode: true, write: (_batch, _encoding, done) => void read(done) }))
  const failed = once(stream, 'error')
  stream.end('{"kind":"free","address":"0x10"}\nx\n')
  const [error] = (await failed) as [Error]
  expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED' })
})

/** Takes some time without timers. */
async function read(done: () => void): Promise<void> {
  for (let i = 0; i < 20; i++) await readFile(import.meta.filename)
  done()
}
