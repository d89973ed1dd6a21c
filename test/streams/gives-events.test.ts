import { createReadStream, createWriteStream, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Writable, type Duplex, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { createGunzip, createGzip } from 'node:zlib'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as mtrc from '../../lib/entry/mtrc.js'
import { compose, decodeAny, events, filter, generate, map, merge, sort, symbolize } from '../../lib/entry/index.js'

const FILE = fileURLToPath(new URL('../fixtures/mtrc/small64.mtrc.gz', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
afterAll(() => rmSync(folder, { recursive: true }))

const SOURCES: [string, () => Readable][] = [
  ['generate()', () => generate({ model: 'random', events: 10 })],
  ['merge()', () => merge(FILE, { endToEnd: true })],
]
const STAGES: [string, () => Duplex[]][] = [
  ['mtrc.decode()', () => [mtrc.decode()]],
  ['decodeAny()', () => [decodeAny()]],
  ['filter()', () => [mtrc.decode(), filter({})]],
  ['map()', () => [mtrc.decode(), map({ drop: ['line'] })]],
  ['sort()', () => [mtrc.decode(), sort({ by: 'address' })]],
  ['symbolize()', () => [mtrc.decode(), symbolize()]],
  ['compose()', () => [compose(mtrc.decode(), filter({}))]],
]
const ALL: [string, () => Readable[]][] = [
  ...SOURCES.map(([name, make]): [string, () => Readable[]] => [name, () => [make()]]),
  ...STAGES.map(([name, make]): [string, () => Readable[]] => [
    name,
    () => [createReadStream(FILE), createGunzip(), ...make()],
  ]),
]
const TARGETS: [string, () => Writable][] = [
  ['a file', () => createWriteStream(`${folder}/events`)],
  ['gzip', () => createGzip()],
  ['a Writable', () => new Writable({ write: (_chunk, _encoding, done) => done() })],
]

describe('a stream of events that is piped into one of bytes fails, and says what is missing', () => {
  const uncaught: unknown[] = []
  const note = (error: unknown) => void uncaught.push(error)
  beforeEach(() => {
    process.on('uncaughtException', note)
  })
  afterEach(() => {
    process.off('uncaughtException', note)
    expect(uncaught).toEqual([])
  })

  test.each(ALL.flatMap(([name, make]) => TARGETS.map(([what, target]) => [name, what, make, target] as const)))(
    '%s, %s',
    async (name, _what, make, target) => {
      const error = await pipeline([...make(), target()] as never).catch((fault: unknown) => fault)
      expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' })
      expect((error as Error).message).toBe(
        `${name} gives events, but is piped into a stream that takes bytes: ` +
          'put an encoder between them, such as ndjson.encode()',
      )
    },
  )

  test('and pipe(), which has no pipeline, emits the error', async () => {
    const stream = generate({ model: 'random', events: 10 })
    const failed = new Promise((resolve) => stream.on('error', resolve))
    stream.pipe(createWriteStream(`${folder}/others`) as never)
    expect(await failed).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' })
  })
})

test('streams that take objects get them, and bytes go to files', async () => {
  const through = new PassThrough({ objectMode: true })
  let count = 0
  generate({ model: 'random', events: 500 }).pipe(through as never)
  for await (const batch of through as AsyncIterable<{ count: number }>) count += batch.count
  expect(count).toBeGreaterThanOrEqual(500)
  const path = `${folder}/copy.mtrc`
  await pipeline(merge(FILE, { endToEnd: true }), mtrc.encode(), createWriteStream(path))
  expect(existsSync(path)).toBe(true)
  let copied = 0
  for await (const _ of events(path)) copied++
  expect(copied).toBe(2798)
})
