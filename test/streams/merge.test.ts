import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { concatInputs, mergeInputs, mtrc, ndjson, NoOrderError, Offset, replay, type MergedStream } from '../../lib/index.js'
import { scratch } from '../support/commands.js'
import { encodeEvents } from '../support/drive.js'

const N = 4000

/** Three dumps that share the times from 0 on, and what they are merged. */
function dumps(): { texts: Buffer[]; merged: TraceEvent[] } {
  const merged = Array.from({ length: 3 * N }, (_, i): TraceEvent => ({
    kind: 'alloc', api: 'malloc', thread: BigInt((i * 7) % 3), time: BigInt(i), endTime: BigInt(i + 1), address: BigInt(16 * (i + 1)), size: 8n,
  }))
  const texts = [0n, 1n, 2n].map((thread) => Buffer.from(encodeEvents(replay.format.encoder(), merged.filter((event) => event.thread === thread), { format: 'replay', timeUnit: 'ns' })))
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
    const json = Buffer.from(encodeEvents(ndjson.format.encoder(), merged.filter(({ thread }) => thread === 2n), { format: 'replay', timeUnit: 'ns' }))
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
    const lost = new Set(merged.filter(({ thread }) => thread === 1n).slice(events.filter(({ thread }) => thread === 1n).length))
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
    await expect(pipeline(mergeInputs(paths.map((path) => ({ path }))), replay.encode(), sink)).rejects.toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
    expect(text.trimEnd().split('\n')).toHaveLength(events.length)
  })

  test('fails at once when a file is no trace or not there', async () => {
    const paths = files([whole, Buffer.from('nothing that anybody would take for a trace, long enough to be told from all formats')])
    const { events, error } = await read(mergeInputs(paths.map((path) => ({ path }))))
    expect(events).toEqual([])
    expect((error as Error).message).toContain(`${paths[1]}: unknown: byte 0: the input is none of`)
    expect((await read(mergeInputs([{ path: paths[0] as string }, { path: '/no/such/file' }]))).error).toMatchObject({ code: 'ENOENT', path: '/no/such/file' })
    expect((await read(mergeInputs([{ path: '/' }]))).error).toMatchObject({ code: 'EISDIR', path: '/' })
  })

  test('cannot put events in order that have neither times nor numbers', async () => {
    const bare = Buffer.from('1: malloc 0x10 5\n')
    const { error } = await read(mergeInputs(files([bare, bare]).map((path) => ({ path }))))
    expect(error).toBeInstanceOf(NoOrderError)
    const { events, warnings } = await read(mergeInputs(files([bare, whole]).map((path, i) => ({ path, name: `input${i}` }))))
    expect(events).toHaveLength(N + 1)
    expect(warnings).toEqual(['input0: no event has a time: they come first, in their own order'])
  })

  test('passes each input through its stage, and warnings on with its name', async () => {
    const unfinished = Buffer.from('1: malloc 0x10 5 1 2\n1: free 0x10 3 4')
    const paths = files([unfinished, unfinished])
    const { events, warnings } = await read(mergeInputs(paths.map((path, i) => ({ path, name: `cpu${i}`, stage: new Offset({ thread: BigInt(i) * 100n }) }))))
    expect(events.map(({ thread }) => thread)).toEqual([1n, 101n, 1n, 101n])
    expect(warnings.map((text) => text.slice(0, 13))).toEqual(['cpu0: replay:', 'cpu1: replay:'])
  })

  test('lets go of its files when it is destroyed', async () => {
    const stream = mergeInputs(files(texts).map((path) => ({ path })))
    for await (const _ of stream) break
    expect(stream.destroyed).toBe(true)
  })
})

describe('concatInputs', () => {
  const traces = [1n, 2n].map((address) => encodeEvents(mtrc.format.encoder(), [{ kind: 'alloc', index: 1n, address, size: 8n }], { format: 'mtrc' }))

  test('gives one trace after the other', async () => {
    const { events, error } = await read(concatInputs(files(traces).map((path) => ({ path }))))
    expect(error).toBeUndefined()
    expect(events).toMatchObject([{ index: 1n, address: 1n }, { index: 1n, address: 2n }])
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
