// Small pipelines of mixed stages, and the same that fail half-way. Each gives a text that must always be the same.
import { createHash } from 'node:crypto'
import { createReadStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import * as heapflow from '../../dist/lib/entry/index.js'

const {
  arrow,
  blockTable,
  compact,
  compose,
  decodeAny,
  decompress,
  events,
  filter,
  filterFile,
  fromEvents,
  gzip,
  hatf,
} = heapflow
const { glibcMtrace, heapmon, heaptrack, kmemtrace, map, merge, mtrc, ndjson, openTrace, parseRange, profile, repair } =
  heapflow
const { exportProfile, replay, report, sort, split, stats, blocks, verify } = heapflow

const HEADER = { format: 'soak', timeUnit: 'ns' }
const EVENTS = Array.from({ length: 60 }, (_, i) => ({
  kind: i % 2 === 0 ? 'alloc' : 'free',
  thread: BigInt((i >> 1) % 3),
  time: BigInt(i),
  address: BigInt((i >> 1) * 64 + 4096),
  ...(i % 2 === 0 ? { size: BigInt((i % 7) * 16 + 16), stack: ['inner', `outer${i % 5}`] } : {}),
}))

/** The bytes of what a readable stream gives. */
async function bytesOf(stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const digest = (bytes) => createHash('sha1').update(bytes).digest('hex')
const text = (value) => JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? String(v) : v))
const bytes = (stream) => bytesOf(Readable.from(EVENTS).pipe(compose(fromEvents(HEADER), stream)))

/** A source that gives its bytes in two parts. */
function source(trace) {
  const half = trace.length >> 1
  return Readable.from([trace.subarray(0, half), trace.subarray(half)], { objectMode: false })
}

/** What a pipeline of these stages gives, or its fault, and what came before that. */
async function outcome(...stages) {
  const hash = createHash('sha1')
  try {
    await pipeline(...stages, async (chunks) => {
      for await (const chunk of chunks) hash.update(chunk)
    })
    return hash.digest('hex')
  } catch (error) {
    return `${error.code ?? error.name} ${error.offset} ${hash.digest('hex')}`
  }
}

/** The result of a sink. */
async function resultOf(trace, sink, decode = decodeAny()) {
  await pipeline(source(trace), decompress(), decode, sink)
  return sink.result
}

/**
 * The pipelines, each a function that gives a promise of a text, in a folder for their files.
 * @returns those that succeed, and those that fail
 */
export async function pipelinesIn(folder) {
  const formats = { arrow, compact, glibcMtrace, hatf, heaptrack, kmemtrace, mtrc, ndjson, replay }
  const traces = {}
  for (const [name, format] of Object.entries(formats)) traces[name] = await bytes(format.encode())
  const heapmonTrace = await bytes(heapmon.encode())
  const file = join(folder, 'small.ndjson.gz')
  writeFileSync(file, gzipSync(traces.ndjson))
  const compactFile = join(folder, 'small.hfc')
  writeFileSync(compactFile, traces.compact)

  const good = [
    ...Object.entries(formats).map(
      ([name, format]) =>
        () =>
          outcome(source(traces[name]), format.decode(), format.encode()),
    ),
    () => outcome(source(traces.ndjson), ndjson.decode(), blockTable({ to: 'parquet' })),
    () => outcome(source(heapmonTrace), heapmon.decode(), ndjson.encode()),
    () => outcome(source(traces.mtrc), decodeAny(), filter({ kind: 'alloc' }), hatf.encode(), gzip()),
    () =>
      outcome(
        source(traces.hatf),
        compose(decompress(), decodeAny()),
        map({ rebase: { from: 0n, to: 1n << 20n } }),
        arrow.encode(),
      ),
    () => outcome(source(gzipSync(traces.replay)), decompress(), replay.decode(), repair(), verify(), mtrc.encode()),
    () => outcome(Readable.from(EVENTS), fromEvents(HEADER), sort({ by: 'size' }), ndjson.encode()),
    () => outcome(filterFile(compactFile, { events: parseRange('20..40') }), ndjson.encode()),
    () => outcome(merge(file, compactFile, { by: 'time' }), ndjson.encode()),
    async () => text(await resultOf(traces.ndjson, stats())),
    async () => text((await resultOf(traces.heaptrack, report())).data().summary),
    async () => digest(Buffer.concat([...(await exportProfile(await resultOf(traces.ndjson, profile()), 'pprof'))])),
    async () => {
      let bytes = 0n
      for await (const block of blocks(file)) bytes += block.size ?? 0n
      return String(bytes)
    },
    async () => {
      const parts = new Map()
      const part = (name) => [
        ndjson.encode(),
        new Writable({
          write(chunk, _encoding, done) {
            parts.set(name, (parts.get(name) ?? 0) + chunk.length)
            done()
          },
        }),
      ]
      await pipeline(source(traces.ndjson), ndjson.decode(), split({ by: 'thread' }, part))
      return text([...parts].toSorted())
    },
    async () => {
      let n = 0
      for await (const event of events(file)) n += event.kind === 'alloc' ? 1 : 0
      return String(n)
    },
    async () => {
      let n = 0
      for await (const batch of openTrace(file)) n += batch.count
      return String(n)
    },
  ]

  const cut = (trace) => trace.subarray(0, Math.floor(trace.length * 0.7))
  const damaged = (trace) => Buffer.concat([cut(trace), Buffer.alloc(40, 0xff), trace.subarray(trace.length >> 1)])
  const names = Object.keys(formats)
  const bad = [
    ...names.map((name) => () => outcome(source(cut(traces[name])), formats[name].decode(), ndjson.encode())),
    ...names.map((name) => () => outcome(source(damaged(traces[name])), decodeAny(), stagesOf(name), ndjson.encode())),
    () => outcome(source(cut(gzipSync(traces.mtrc))), decompress(), mtrc.decode(), hatf.encode()),
    () =>
      outcome(
        source(traces.mtrc),
        mtrc.decode(),
        filter(() => fail()),
        hatf.encode(),
      ),
    // The consumer goes away.
    async () => {
      for await (const event of events(file)) if (event.time === 20n) return 'left'
      return 'not left'
    },
    async () => {
      for await (const batch of openTrace(file)) return `left ${batch.count}`
      return 'not left'
    },
    async () => {
      const reader = createReadStream(file).pipe(compose(decompress(), decodeAny(), hatf.encode()))
      await new Promise((resolve) => reader.once('readable', resolve))
      const closed = new Promise((resolve) => reader.once('close', resolve))
      reader.destroy()
      await closed
      return 'destroyed'
    },
    async () => {
      const abort = new AbortController()
      const run = pipeline(source(traces.arrow), arrow.decode(), sort({ by: 'time' }), mtrc.encode(), neverEnding(), {
        signal: abort.signal,
      })
      setImmediate(() => abort.abort())
      return run.then(
        () => 'ended',
        (error) => error.name,
      )
    },
    // The destination fails.
    () =>
      pipeline(
        source(traces.compact),
        compact.decode(),
        map(() => {}),
        ndjson.encode(),
        failing(),
      ).then(
        () => 'ended',
        (error) => error.message,
      ),
    () =>
      resultOf(cut(traces.ndjson), stats()).then(
        () => 'ended',
        (error) => error.code,
      ),
  ]
  return { good, bad }
}

const stagesOf = (name) => (name.length % 2 === 0 ? repair() : filter({ kind: ['alloc', 'free'] }))

function fail() {
  throw new Error('a predicate that fails')
}

const neverEnding = () => new Writable({ write() {} })
const failing = () => new Writable({ write: (_chunk, _encoding, done) => done(new Error('a disk that is full')) })
