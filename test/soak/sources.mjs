// Long traces through each source of the library. A trace is one piece again and again, in which each block is freed.
import { spawn, spawnSync } from 'node:child_process'
import { createReadStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { readTrace } from '../../dist/browser/index.js'
import * as heapflow from '../../dist/lib/entry/index.js'

const { arrow, blocks, compose, decodeAny, decompress, events, filterFile, gzip, merge, ndjson, openTrace, stats } =
  heapflow

const PIECE_EVENTS = 10_000
const PIECE = Buffer.from(
  Array.from({ length: PIECE_EVENTS }, (_, i) => {
    const address = `"address":"0x${(0x10000 + (i >> 1) * 64).toString(16)}"`
    if (i % 2 === 1) return `{"kind":"free","thread":${i % 7},${address}}\n`
    const stack = Array.from(
      { length: 12 },
      (_, depth) => `"function_${(i + depth) % 97} in src/file_${depth}.c:${i % 89}"`,
    )
    return `{"kind":"alloc","thread":${i % 7},${address},"size":${i % 5000},"stack":[${stack.join(',')}]}\n`
  }).join(''),
)

/** The events of batches. */
async function count(batches) {
  let n = 0
  for await (const batch of batches) n += batch.count
  return n
}

/** The number of plain events or rows. */
async function each(items) {
  let n = 0
  for await (const item of items) if (item !== undefined) n++
  return n
}

const nothing = () => new Writable({ write: (_chunk, _encoding, done) => done() })

/**
 * The sources, by name: functions that give a promise of the number of events that came, of `pieces` pieces.
 * @returns them, and what a piece has
 */
export function sourcesIn(folder) {
  const file = join(folder, 'piece.ndjson')
  const packed = join(folder, 'piece.ndjson.gz')
  writeFileSync(file, PIECE)
  writeFileSync(packed, gzipSync(PIECE))
  let pipes = 0

  /** A named pipe into which another process writes a file so many times. */
  function pipe(pieces, path = file) {
    const fifo = join(folder, `pipe-${pipes++}`)
    spawnSync('mkfifo', [fifo])
    spawn('bash', ['-c', `for ((i = 0; i < ${pieces}; i++)); do cat '${path}'; done > '${fifo}'`], { stdio: 'ignore' })
    return fifo
  }
  const chunks = function* (pieces) {
    for (let i = 0; i < pieces; i++) yield PIECE
  }
  const stream = (pieces) => Readable.from(chunks(pieces), { objectMode: false })

  const sources = {
    'events(path)': (pieces) => each(events(pipe(pieces))),
    'events(path of gzip)': (pieces) => each(events(pipe(pieces, packed))),
    'events(stream)': (pieces) => each(events(stream(pieces))),
    'events(createReadStream)': (pieces) => each(events(createReadStream(pipe(pieces)))),
    'events(web stream)': (pieces) => each(events(Readable.toWeb(stream(pieces)))),
    'events(iterable)': (pieces) => each(events(chunks(pieces))),
    'openTrace(path)': (pieces) => count(openTrace(pipe(pieces))),
    'openTrace(path of gzip)': (pieces) => count(openTrace(pipe(pieces, packed))),
    'blocks(path)': async (pieces) => 2 * (await each(blocks(pipe(pieces)))),
    'filterFile(path)': (pieces) => count(filterFile(pipe(pieces), {})),
    'merge(path, path)': (pieces) => count(merge(pipe(pieces >> 1), pipe(pieces - (pieces >> 1)), { endToEnd: true })),
    'readTrace(web stream)': (pieces) => count(readTrace(Readable.toWeb(stream(pieces)))),
    'pipeline(stream, decode(), sink)': (pieces) =>
      new Promise((resolve, reject) => {
        let n = 0
        pipeline(stream(pieces), ndjson.decode(), async (batches) => (n = await count(batches))).then(
          () => resolve(n),
          reject,
        )
      }),
    'pipeline(stream, decodeAny(), stats())': async (pieces) => {
      const sink = stats()
      await pipeline(createReadStream(pipe(pieces)), decompress(), decodeAny(), sink)
      return Number((await sink.result).events)
    },
    'compose(decode(), encode(), gzip())': async (pieces) => {
      const encoder = arrow.encode()
      let n = 0
      const counter = new Writable({ write: (chunk, _encoding, done) => ((n += chunk.length), done()) })
      await pipeline(stream(pieces), compose(ndjson.decode(), encoder), counter)
      await pipeline(stream(Math.max(1, pieces >> 4)), compose(ndjson.decode(), arrow.encode(), gzip()), nothing())
      return n > 0 ? pieces * PIECE_EVENTS : 0
    },
  }
  return { sources, bytes: PIECE.length, events: PIECE_EVENTS }
}
