import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { blocks } from '../../lib/streams/blocks.js'
import { merge } from '../../lib/streams/merge-sources.js'
import { events, type TraceSource } from '../../lib/streams/read-source.js'

const file = new URL('../golden/mtrc/sources.mtrc', import.meta.url)
const bytes = new Uint8Array(readFileSync(file))
const zipped = new Uint8Array(gzipSync(bytes))

async function kindsOf(source: TraceSource): Promise<string[]> {
  const kinds: string[] = []
  for await (const event of events(source)) kinds.push(event.kind)
  return kinds
}

test.each<[string, () => TraceSource]>([
  ['bytes', () => bytes],
  ['an ArrayBuffer', () => bytes.slice().buffer],
  ['a Blob', () => new Blob([bytes])],
  ['a compressed Blob', () => new Blob([zipped])],
  ['a stream of the web', () => new Blob([bytes]).stream() as AsyncIterable<Uint8Array>],
  ['a stream of the web of ArrayBuffers', () => new ReadableStream({ start: give }) as unknown as TraceSource],
  ['a stream of Node', () => Readable.from([bytes.subarray(0, 10), bytes.subarray(10)])],
])('events are read from %s', async (_, source) => {
  const expected = await kindsOf(file)
  expect(expected.length).toBeGreaterThan(5)
  expect(await kindsOf(source())).toEqual(expected)
})

function give(into: ReadableStreamDefaultController<ArrayBufferLike>): void {
  for (const part of [bytes.slice(0, 10), bytes.slice(10)]) into.enqueue(part.buffer)
  into.close()
}

test('anything else is named in the error', () => {
  expect(() => events(7 as unknown as TraceSource)).toThrow('bytes, a Blob, a stream or an iterable, not from 7')
})

test('a stream of the web is cancelled by a signal, also while it waits, and by leaving the loop', async () => {
  for (const leave of ['signal', 'break']) {
    let isCancelled = false
    const source = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"kind":"alloc"}\n'.repeat(500))),
      cancel: () => {
        isCancelled = true
      },
    })
    const aborter = new AbortController()
    const read = async () => {
      for await (const _ of events(source as AsyncIterable<Uint8Array>, { signal: aborter.signal }))
        if (leave === 'break') break
        else setTimeout(() => aborter.abort(), 1)
    }
    if (leave === 'break') await read()
    else await expect(read()).rejects.toMatchObject({ name: 'AbortError' })
    await new Promise((resolve) => setTimeout(resolve, 1))
    expect({ leave, isCancelled, isLocked: source.locked }).toEqual({ leave, isCancelled: true, isLocked: false })
  }
})

test('destroying merge() closes sources of which nothing has been read', async () => {
  let cancelled = 0
  const web = () => new ReadableStream<Uint8Array>({ cancel: () => void cancelled++ }) as AsyncIterable<Uint8Array>
  const node = new Readable({ read() {} })
  merge(web(), node, web()).destroy()
  await new Promise((resolve) => setTimeout(resolve, 1))
  expect([cancelled, node.destroyed]).toEqual([2, true])
})

test('a stream of the web is unlocked at its end', async () => {
  const source = new Blob([bytes]).stream()
  for await (const _ of events(source as AsyncIterable<Uint8Array>)) continue
  expect(source.locked).toBe(false)
})

test('no block follows the abortion, also of those that the end of the trace left alive', async () => {
  const made = Array.from({ length: 9 }, (_, i) => ({ kind: 'alloc', address: BigInt(i + 1), size: 8n }) as const)
  const aborter = new AbortController()
  let rows = 0
  const read = async () => {
    for await (const _ of blocks(made, { signal: aborter.signal })) if (++rows === 2) aborter.abort()
  }
  await expect(read()).rejects.toMatchObject({ name: 'AbortError' })
  expect(rows).toBe(2)
})
