// The same conversion in one thread and divided between two, to measure the benefit of a second thread.
import { createReadStream, statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import * as hatf from '../../dist/lib/entry/hatf.js'
import * as mtrc from '../../dist/lib/entry/mtrc.js'
import { decompress } from '../../dist/lib/entry/index.js'
import { chain, FIELDS, recycle, U64Column } from '../../dist/lib/entry/stages.js'

const CHUNK_BYTES = 262_144
/** The maximum number of batches in transit to the other thread. */
const AHEAD = 4
/** What HATF has a place for. */
const CARRIED = ['thread', 'address', 'oldAddress', 'size']

const ONE = 'one thread'

/** @param {import('../inputs.mjs').Large} large */
export function tasks({ events, files }) {
  const bytes = statSync(files.mtrc).size
  const task = (name, run) => ({ name, events, bytes, run })
  const of = (path, inflater) => createReadStream(path, { highWaterMark: CHUNK_BYTES }).pipe(decompress(inflater && { inflater }))
  return [
    task(`gzip, ${ONE}`, () => inOneThread(of(files.gzip, 'zlib-sync'))),
    task('gzip, inflated in the thread pool', () => inOneThread(of(files.gzip, 'node:zlib'))),
    task('gzip, inflated in a worker', () => inOneThread(inflatedByWorker(files.gzip))),
    task('gzip, encoded in a worker', () => encodedByWorker(of(files.gzip, 'zlib-sync'))),
    task(ONE, () => inOneThread(of(files.mtrc))),
    task('encoded in a worker', () => encodedByWorker(of(files.mtrc))),
  ]
}

async function inOneThread(source) {
  const stage = chain(mtrc.format.decoder(), hatf.format.encoder(), { recycle: true })
  let bytes = 0
  const drain = () => {
    for (let out = stage.next(); out !== null; out = stage.next()) {
      bytes += out.length
      recycle(out)
    }
  }
  for await (const chunk of source) {
    stage.feed(chunk)
    drain()
  }
  stage.end()
  drain()
  return bytes
}

async function* inflatedByWorker(path) {
  const worker = new Worker(new URL('../threads/worker.mjs', import.meta.url), { workerData: { path } })
  const chunks = []
  let wake = () => {}
  worker.on('message', (chunk) => {
    chunks.push(chunk)
    wake()
  })
  for (;;) {
    while (chunks.length === 0) await new Promise((resolve) => (wake = resolve))
    const chunk = chunks.shift()
    if (chunk === null) return
    worker.postMessage(0, [])
    yield chunk
  }
}

/** Decodes here and encodes in a worker, to which the memory of each batch is transferred. */
async function encodedByWorker(source) {
  const worker = new Worker(new URL('../threads/worker.mjs', import.meta.url), { workerData: { options: {} } })
  const decoder = mtrc.format.decoder()
  let bytes = 0
  let under = 0
  let wake = () => {}
  worker.on('message', (answer) => {
    bytes += answer.bytes
    under--
    wake()
  })
  const send = async () => {
    for (let batch = decoder.next(); batch !== null; batch = decoder.next()) {
      const message = messageOf(batch)
      worker.postMessage(message, [message.mask.buffer])
      under++
      while (under >= AHEAD) await new Promise((resolve) => (wake = resolve))
    }
  }
  for await (const chunk of source) {
    decoder.feed(chunk)
    await send()
  }
  decoder.end()
  await send()
  worker.postMessage(null, [])
  await finishedWorker(worker)
  return bytes
}

/** A batch in a form that can be sent: its columns are views of one piece of memory. */
function messageOf(batch) {
  const { count, header, columns, mask, kind } = batch
  const message = { count, header, columns: 0, mask, kind }
  FIELDS.forEach(({ name }, f) => {
    if (((columns >>> f) & 1) === 0 || !CARRIED.includes(name)) return
    message.columns |= 1 << f
    message[name] = batch[name] instanceof U64Column ? batch[name].values : batch[name]
  })
  return message
}

function finishedWorker(worker) {
  return new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject))
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  ['gzip, inflated in the thread pool', `gzip, ${ONE}`],
  ['gzip, inflated in a worker', `gzip, ${ONE}`],
  ['gzip, encoded in a worker', `gzip, ${ONE}`],
  ['encoded in a worker', ONE],
]
