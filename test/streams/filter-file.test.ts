import { execFileSync } from 'node:child_process'
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { EventBatch, TraceEvent } from '../../lib/event/batch.js'
import * as mtrc from '../../lib/entry/mtrc.js'
import { filterFile, openTrace, type FilterFileOptions, type FilterOptions } from '../../lib/entry/index.js'
import { scratch } from '../support/commands.js'
import { encodeEvents } from '../support/drive.js'

const N = 30_000
/** Every tenth block leaks, and the peak is after the first third. */
const EVENTS = Array.from({ length: N }, (_, i): TraceEvent[] => {
  const index = BigInt(i + 1)
  const alloc: TraceEvent = { kind: 'alloc', index, address: BigInt(16 * (i + 1)), size: i === N / 3 ? 99_999n : 8n }
  return i % 10 === 0 && i !== N / 3 ? [alloc] : [alloc, { kind: 'free', index }]
}).flat()
const TRACE = Buffer.from(encodeEvents(mtrc.format.encoder(), EVENTS, { format: 'mtrc' }))

function file(bytes: Uint8Array = TRACE): string {
  const path = join(scratch(), 'trace.mtrc')
  writeFileSync(path, bytes)
  return path
}

async function read(path: string | URL, options: FilterOptions, reading?: FilterFileOptions): Promise<TraceEvent[]> {
  const events: TraceEvent[] = []
  for await (const batch of filterFile(path, options, reading)) events.push(...(batch as EventBatch))
  return events
}

/** What is open in a folder, files that have no name any more too. */
function openIn(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return path.startsWith(folder) ? [path] : []
    } catch {
      return []
    }
  })
}

/** Runs something with the path of a named pipe that bytes are written to. */
async function withPipe<T>(bytes: Uint8Array, run: (path: string) => Promise<T>): Promise<T> {
  const folder = scratch()
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const { createWriteStream } = await import('node:fs')
  const writer = createWriteStream(path)
  writer.on('error', () => {})
  writer.end(bytes)
  return run(path)
}

describe('filterFile', () => {
  const leaks = EVENTS.filter(({ kind, address }) => kind === 'alloc' && (address! / 16n - 1n) % 10n === 0n).filter(
    ({ size }) => size === 8n,
  )

  test('reads a file twice, compressed or not', { tags: ['slow'] }, async () => {
    const sizes = (events: readonly TraceEvent[]) => events.map(({ address }) => address)
    expect(sizes(await read(file(), { leaked: true }))).toEqual(sizes(leaks))
    expect(sizes(await read(file(gzipSync(TRACE)), { leaked: true }))).toEqual(sizes(leaks))
    expect(await read(file(), { liveAt: 'peak', size: { from: 9n } })).toMatchObject([{ size: 99_999n }])
    expect(await read(file(), { kind: 'free' })).toHaveLength(EVENTS.length - N)
    expect(await read(pathToFileURL(file()), { leaked: true })).toHaveLength(leaks.length)
  })

  test('copies a pipe to a file that is gone afterwards', async () => {
    const folder = scratch()
    const events = await withPipe(TRACE, (path) => read(path, { leaked: true }, { folder }))
    expect(events).toHaveLength(leaks.length)
    expect(readdirSync(folder)).toEqual([])
    expect(openIn(folder)).toEqual([])
  })

  test('a fault of the file names it, as in openTrace()', async () => {
    const path = file(TRACE.subarray(0, 5000))
    const drained = async (source: AsyncIterable<unknown>) => {
      for await (const _ of source) continue
    }
    for (const source of [openTrace(path), filterFile(path), filterFile(path, { leaked: true })])
      await expect(drained(source)).rejects.toMatchObject({
        file: path,
        message: expect.stringMatching(new RegExp(`^${path}: mtrc: byte \\d+, event \\d+: truncated: `)),
      })
  })

  test('criteria that are changed after the call change nothing', async () => {
    const path = file()
    const criteria = { leaked: true, kind: 'alloc' as const }
    const reading = read(path, criteria)
    criteria.leaked = false
    expect(await reading).toEqual(await read(path, { leaked: true, kind: 'alloc' }))
  })

  test('closes everything when it is destroyed, in whatever state', { tags: ['slow'] }, async () => {
    const folder = scratch()
    const path = file()
    for (let i = 0; i < 20; i++) {
      for await (const _batch of filterFile(path, { leaked: true })) break
      await withPipe(TRACE, async (pipe) => {
        const stream = filterFile(pipe, { temporary: true }, { folder })
        stream.on('error', () => {})
        stream.resume()
        setTimeout(() => stream.destroy(), i)
        await new Promise((resolve) => stream.once('close', resolve))
      })
    }
    const stop = AbortSignal.abort()
    await expect(read(path, { leaked: true }, { signal: stop })).rejects.toThrow(/abort/i)
    await expect.poll(() => [...openIn(folder), ...openIn(path)]).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

  test('gives what was before a fault, and then the fault', async () => {
    const path = file(TRACE.subarray(0, TRACE.length >> 1))
    const kept: TraceEvent[] = []
    const sink = new Writable({
      objectMode: true,
      write(batch: EventBatch, _encoding, done) {
        kept.push(...batch)
        done()
      },
    })
    await expect(pipeline(filterFile(path, { leaked: true }), sink)).rejects.toMatchObject({
      code: 'ERR_TRACE_TRUNCATED',
    })
    expect(kept.length).toBeGreaterThan(leaks.length / 3)
    await expect(read(file(Buffer.from('no trace')), { leaked: true })).rejects.toMatchObject({
      code: 'ERR_TRACE_UNKNOWN_FORMAT',
    })
    await expect(read(join(scratch(), 'none'), { leaked: true })).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(read(scratch(), { leaked: true })).rejects.toMatchObject({ code: 'EISDIR' })
    await expect(read(file(), { liveAt: { event: 10 ** 9 } })).rejects.toThrow(/there is no event 1000000000/)
  })

  test('reports how many events and bytes it has read', async () => {
    const path = file()
    const stream = filterFile(path, { leaked: true })
    let events = 0
    stream.on('events', (n: number) => (events += n))
    for await (const _batch of stream);
    expect(events).toBe(EVENTS.length)
    expect(stream.bytesRead()).toBe(TRACE.length)
  })

  test('refuses options that make no sense, at once', () => {
    expect(() => filterFile('x', { leakd: true } as FilterOptions)).toThrow(RangeError)
    expect(() => filterFile('x', { liveAt: { event: 0 } })).toThrow(/counted from 1/)
    expect(() => filterFile('x', { leaked: true }, { tmp: '/tmp' } as FilterFileOptions)).toThrow(
      /unknown option "tmp"/,
    )
  })
})
