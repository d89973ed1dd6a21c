import { execFileSync } from 'node:child_process'
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import * as compact from '../../lib/entry/compact.js'
import * as kmemtrace from '../../lib/entry/kmemtrace.js'
import * as mtrc from '../../lib/entry/mtrc.js'
import * as ndjson from '../../lib/entry/ndjson.js'
import * as replay from '../../lib/entry/replay.js'
import { type MergedStream } from '../../lib/entry/index.js'
import { concatInputs, mergeInputs, IdOffset } from '../../lib/entry/stages.js'
import { scratch } from '../support/commands.js'
import { encodeEvents } from '../support/drive.js'

const N = 4000

/** Three dumps that share the times from 0 on, and what they are merged. */
function dumps(): { texts: Buffer[]; merged: TraceEvent[] } {
  const merged = Array.from({ length: 3 * N }, (_, i): TraceEvent => ({
    kind: 'alloc',
    api: 'malloc',
    thread: BigInt((i * 7) % 3),
    time: BigInt(i),
    endTime: BigInt(i + 1),
    address: BigInt(16 * (i + 1)),
    size: 8n,
  }))
  const texts = [0n, 1n, 2n].map((thread) =>
    Buffer.from(
      encodeEvents(
        replay.format.encoder(),
        merged.filter((event) => event.thread === thread),
        { format: 'replay', timeUnit: 'ns' },
      ),
    ),
  )
  return { texts, merged }
}

function files(contents: readonly Uint8Array[]): string[] {
  const folder = scratch()
  return contents.map((bytes, i) => {
    const path = join(folder, `cpu${i}`)
    writeFileSync(path, bytes)
    return path
  })
}

/** How many of some files this process has open. */
function openFiles(paths: readonly string[]): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return paths.includes(readlinkSync(`/proc/self/fd/${fd}`))
    } catch {
      return false
    }
  }).length
}

async function read(stream: MergedStream) {
  const events: TraceEvent[] = []
  const warnings: string[] = []
  let counted = 0
  stream.on('warning', (text: string) => warnings.push(text))
  stream.on('events', (n: number) => (counted += n))
  let error: unknown
  try {
    for await (const batch of stream) events.push(...batch)
  } catch (fault) {
    error = fault
  }
  expect(counted).toBe(events.length)
  return { events, warnings, error, bytes: stream.bytesRead() }
}

describe('mergeInputs', () => {
  const { texts, merged } = dumps()
  const [whole, cut, other] = texts as [Buffer, Buffer, Buffer]

  test('merges files of any format, compressed or not', async () => {
    const json = Buffer.from(
      encodeEvents(
        ndjson.format.encoder(),
        merged.filter(({ thread }) => thread === 2n),
        { format: 'replay', timeUnit: 'ns' },
      ),
    )
    const paths = files([whole, gzipSync(cut), json])
    const { events, warnings, error, bytes } = await read(mergeInputs(paths.map((path) => ({ path }))))
    expect(error).toBeUndefined()
    expect(warnings).toEqual([])
    expect(events).toEqual(merged)
    expect(bytes).toBe(whole.length + gzipSync(cut).length + json.length)
  })

  test('merges a file that is cut as far as it goes, the others to the end, and then fails with its name', async () => {
    const paths = files([whole, cut.subarray(0, 20_000), other])
    const { events, error } = await read(mergeInputs(paths.map((path) => ({ path }))))
    const lost = new Set(
      merged.filter(({ thread }) => thread === 1n).slice(events.filter(({ thread }) => thread === 1n).length),
    )
    expect(lost.size).toBeGreaterThan(1000)
    expect(events).toEqual(merged.filter((event) => !lost.has(event)))
    expect((error as Error).message).toMatch(new RegExp(`^${paths[1]}: replay: line \\d+, .*truncated`))
  })

  test('loses nothing of it in a pipeline with a slow sink', async () => {
    const paths = files([whole, cut.subarray(0, 20_000), other])
    const { events } = await read(mergeInputs(paths.map((path) => ({ path }))))
    let text = ''
    const sink = new Writable({
      highWaterMark: 1,
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString()
        setTimeout(done, 1)
      },
    })
    await expect(pipeline(mergeInputs(paths.map((path) => ({ path }))), replay.encode(), sink)).rejects.toMatchObject({
      code: 'ERR_TRACE_TRUNCATED',
    })
    expect(text.trimEnd().split('\n')).toHaveLength(events.length)
  })

  test('merges many compact files, by a temporary file', { tags: ['slow'] }, async () => {
    const parts = Array.from({ length: 12 }, (_, i) => merged.filter((_event, at) => at % 12 === i))
    const header = { format: 'replay', timeUnit: 'ns' } as const
    const texts = parts.map((part) => Buffer.from(encodeEvents(compact.format.encoder(), part, header)))
    const paths = files(texts)
    const inputs = paths.map((path) => ({ path }))
    expect(await read(mergeInputs(inputs))).toMatchObject({ events: merged, warnings: [], error: undefined })
    expect(openFiles(paths)).toBe(0)

    // Without its end, a file is truncated after all of its events.
    writeFileSync(paths[3], texts[3].subarray(0, -2))
    const { events, error } = await read(mergeInputs(inputs))
    expect(events).toEqual(merged)
    expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
    expect((error as Error).message).toContain(`${paths[3]}: compact`)

    const stopped = mergeInputs(inputs)
    for await (const batch of stopped) if (batch.count > 0) break
    expect(stopped.destroyed).toBe(true)
    expect(openFiles(paths)).toBe(0)
  })

  test('fails at once when a file is no trace or not there', async () => {
    const paths = files([
      whole,
      Buffer.from('nothing that anybody would take for a trace, long enough to be told from all formats'),
    ])
    const { events, error } = await read(mergeInputs(paths.map((path) => ({ path }))))
    expect(events).toEqual([])
    expect((error as Error).message).toContain(`${paths[1]}: unrecognized format`)
    expect((await read(mergeInputs([{ path: paths[0] }, { path: '/no/such/file' }]))).error).toMatchObject({
      code: 'ENOENT',
      path: '/no/such/file',
    })
    expect((await read(mergeInputs([{ path: '/' }]))).error).toMatchObject({ code: 'EISDIR', path: '/' })
  })

  test('cannot put events in order that have neither times nor numbers', async () => {
    const bare = Buffer.from('1: malloc 0x10 5\n')
    const { error } = await read(mergeInputs(files([bare, bare]).map((path) => ({ path }))))
    expect(error).toMatchObject({ code: 'ERR_TRACE_NO_ORDER' })
    const one = await read(mergeInputs(files([bare]).map((path) => ({ path }))))
    expect([one.events.length, one.error, one.warnings]).toEqual([1, undefined, []])
    const { events, warnings } = await read(
      mergeInputs(files([bare, whole]).map((path, i) => ({ path, name: `input${i}` }))),
    )
    expect(events).toHaveLength(N + 1)
    expect(warnings).toEqual(['input0: no event has a time: they come first, in their own order'])
  })

  test('goes by time where traces begin with many events that have none, as their unit tells', async () => {
    const old = '0-0 old 0x100000 16 novtbl main\n'.repeat(6000)
    const texts = [1, 2].map((input) =>
      Buffer.from(
        old +
          [10, 20, 30]
            .map((time) => `1-${input} ${time + input} 0x${(time * input).toString(16)} 16 novtbl main\n`)
            .join(''),
      ),
    )
    const { events, warnings, error } = await read(mergeInputs(files(texts).map((path) => ({ path }))))
    expect(error).toBeUndefined()
    expect(warnings).toEqual([])
    expect(events.slice(0, 12_000).every(({ kind }) => kind === 'existing')).toBe(true)
    expect(events.slice(12_000).map(({ time }) => time)).toEqual([11n, 12n, 21n, 22n, 31n, 32n])
  })

  test('needs no order where no input has events', async () => {
    const empty = files([Buffer.alloc(0), Buffer.alloc(0)]).map((path) => ({ path, format: kmemtrace.format }))
    expect(await read(mergeInputs(empty))).toMatchObject({ events: [], error: undefined })
    const [bare] = files([Buffer.from(encodeEvents(mtrc.format.encoder(), [], { format: 'mtrc' }))]) as [string]
    expect(await read(mergeInputs([{ path: bare }, { path: bare }]))).toMatchObject({ events: [], error: undefined })
  })

  test('warns of what more inputs fail with, behind events or without', async () => {
    const paths = files([whole, cut.subarray(0, 20_000), other.subarray(0, 30_000)])
    const { warnings, error } = await read(mergeInputs(paths.map((path) => ({ path }))))
    const failures = [...warnings, (error as Error).message].filter((text) => text.includes('truncated'))
    expect(failures.map((text) => text.slice(0, text.indexOf(': '))).toSorted()).toEqual(paths.slice(1))
    expect((error as Error).message).toContain('truncated')

    const bad = [...files([whole, Buffer.from('no trace at all')]), '/no/such/file', '/']
    const result = await read(mergeInputs(bad.map((path) => ({ path }))))
    expect(result.events).toEqual([])
    const said = [
      ...result.warnings,
      `${(result.error as NodeJS.ErrnoException).path}: ${(result.error as Error).message}`,
    ]
    expect(said).toHaveLength(3)
    for (const path of bad.slice(1)) expect(said.some((text) => text.includes(path))).toBe(true)
  })

  test('does not wait for a pipe when a file fails', async () => {
    const folder = scratch()
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const stream = mergeInputs([{ path: pipe }, { path: '/no/such/file' }])
    const { error } = await read(stream)
    expect(error).toMatchObject({ code: 'ENOENT' })
    // The other end, so that whoever opens the pipe for reading can go on.
    await writeFile(pipe, '')
  })

  test('names the input whose times do not fit', async () => {
    const header = (unit: string) => `{"kind":"header","format":"a","timeUnit":"${unit}"}\n`
    const line = (time: number) => `{"kind":"free","time":${time},"address":"0x10"}\n`
    const paths = files([
      Buffer.from(`${header('us')}${line(1)}{"kind":"end","events":1}\n${header('ns')}${line(2000)}`),
      Buffer.from(header('us') + line(3)),
    ])
    const { events, error } = await read(mergeInputs(paths.map((path) => ({ path }))))
    expect(events).toHaveLength(2)
    expect((error as Error).message).toBe(
      `${paths[0]}: a: event 2: malformed: a trace in ns begins where those before are in us`,
    )
  })

  test('passes each input through its stage, and warnings on with its name', async () => {
    const call = (time: string, rest: string) => `   a-1   [000] .....  ${time}: ${rest}\n`
    const odd = Buffer.from(
      call('1.000001', 'kfree: call_site=f+0x1/0x2 ptr=0000000000000010') +
        call('1.000002', 'kfree: call_site=f+0x1/0x2 ptr=0000000000000020') +
        'odd\n',
    )
    const paths = files([odd, odd])
    const { events, warnings } = await read(
      mergeInputs(
        paths.map((path, i) => ({ path, name: `cpu${i}`, stage: new IdOffset({ thread: BigInt(i) * 100n }) })),
      ),
    )
    expect(events.map(({ thread }) => thread)).toEqual([1n, 101n, 1n, 101n])
    expect(warnings.map((text) => text.slice(0, 13))).toEqual(['cpu0: tracepo', 'cpu1: tracepo'])
  })

  test('lets go of its files when it is destroyed', async () => {
    const stream = mergeInputs(files(texts).map((path) => ({ path })))
    for await (const _ of stream) break
    expect(stream.destroyed).toBe(true)
  })
})

describe('concatInputs', () => {
  const traces = [1n, 2n].map((address) =>
    encodeEvents(mtrc.format.encoder(), [{ kind: 'alloc', index: 1n, address, size: 8n }], { format: 'mtrc' }),
  )

  test('gives one trace after the other', async () => {
    const { events, error } = await read(concatInputs(files(traces).map((path) => ({ path }))))
    expect(error).toBeUndefined()
    expect(events).toMatchObject([
      { index: 1n, address: 1n },
      { index: 1n, address: 2n },
    ])
  })

  test.skipIf(process.platform !== 'linux')('has one file open at a time', async () => {
    const paths = files(Array.from({ length: 40 }, () => traces[0]))
    const stream = concatInputs(paths.map((path) => ({ path })))
    let most = 0
    for await (const _ of stream) most = Math.max(most, openFiles(paths))
    expect(most).toBeLessThanOrEqual(1)
    expect(openFiles(paths)).toBe(0)
  })

  test('ends with one that is cut', async () => {
    const [first, second] = traces as [Uint8Array, Uint8Array]
    const paths = files([first, second.subarray(0, -2), first])
    const { events, error } = await read(concatInputs(paths.map((path) => ({ path }))))
    expect(events).toHaveLength(2)
    expect((error as Error).message).toContain(`${paths[1]}: mtrc: `)
  })

  test('ends with one that is not there', async () => {
    const [path] = files(traces) as [string]
    const { events, error } = await read(concatInputs([{ path }, { path: '/no/such/file' }, { path }]))
    expect(events).toHaveLength(1)
    expect(error).toMatchObject({ code: 'ENOENT', path: '/no/such/file' })
  })
})
