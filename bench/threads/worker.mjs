// The other side of cases/threads.mjs: one stage of a conversion, in a separate thread.
import { createReadStream } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import * as hatf from '../../dist/lib/entry/hatf.js'
import { decompress, EventBatch } from '../../dist/lib/entry/index.js'
import { recycle, U64Column } from '../../dist/lib/entry/stages.js'

/** The maximum number of messages in transit. */
const AHEAD = 4

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort)
if (workerData.path !== undefined) await inflate(workerData.path)
else encode()

/** Sends an inflated file in chunks, whose memory goes with them. */
async function inflate(path) {
  let under = 0
  let wake = () => {}
  port.on('message', () => {
    under--
    wake()
  })
  for await (const chunk of createReadStream(path, { highWaterMark: 262_144 }).pipe(decompress())) {
    const bytes = Uint8Array.from(chunk)
    port.postMessage(bytes, [bytes.buffer])
    under++
    while (under >= AHEAD) await new Promise((resolve) => (wake = resolve))
  }
  port.postMessage(null)
  port.close()
}

/** Encodes batches that come as columns, and answers with the number of bytes. */
function encode() {
  const encoder = hatf.format.encoder(workerData.options)
  const drain = () => {
    let bytes = 0
    for (let out = encoder.next(); out !== null; out = encoder.next()) {
      bytes += out.length
      recycle(out)
    }
    return bytes
  }
  port.on('message', (message) => {
    if (message === null) {
      encoder.end()
      port.postMessage({ bytes: drain(), done: true })
      port.close()
      return
    }
    encoder.feed(batchOf(message))
    port.postMessage({ bytes: drain() })
  })
}

function batchOf({ count, header, columns, mask, kind, ...words }) {
  const batch = new EventBatch(0, 0, header)
  const named = Object.entries(words).map(([name, column]) => [
    name, column instanceof BigUint64Array ? new U64Column(column.buffer, column.byteOffset, column.length) : column,
  ])
  return Object.assign(batch, { count, columns, mask, kind, ...Object.fromEntries(named) })
}
