import { readdirSync, readFileSync } from 'node:fs'
import type { EventBatch } from '../../lib/event/batch.js'
import { TraceError } from '../../lib/event/error.js'
import { parquet } from '../../lib/formats/parquet/index.js'
import { readParquetFile } from '../../lib/streams/io/parquet-file.js'
import type { ParquetFile } from '../../lib/streams/io/parquet-pages.js'
import { textOf } from './codecs.js'
import { Digest } from './digest.js'
import { copyOf, encode, encodeRecycling } from './drive.js'
import { Failure } from './failure.js'
import { ANYTHING, cutIntoBatches, randomEvents } from './events.js'
import { Budget } from './budget.js'
import { Random } from './random.js'
import type { Target } from './target.js'

const READ_ERRORS = new Set([
  'ERR_TRACE_TRUNCATED',
  'ERR_TRACE_MALFORMED',
  'ERR_TRACE_LIMIT',
  'ERR_TRACE_UNKNOWN_FORMAT',
])

/** Random events in Parquet files, which are read by name: as they are written, and damaged. */
export const PARQUET_TARGETS: readonly Target[] = [
  {
    name: 'parquet-events',
    // Its writer has a dictionary for each of many columns.
    weight: 1 / 4,
    make(random) {
      const batches = randomBatches(random)
      return { extension: '.ndjson', bytes: () => textOf(batches), check: () => checkWritten(batches, random) }
    },
  },
  {
    name: 'parquet',
    weight: 4,
    make(random) {
      const bytes = damaged(random.pick((seeds ??= seedFiles())), random)
      return { extension: '.parquet', bytes: () => bytes, check: () => checkDamaged(bytes) }
    },
  },
]

function randomBatches(random: Random): EventBatch[] {
  const events = randomEvents(random, ANYTHING, random.oneIn(50) ? 600 : 30)
  return cutIntoBatches(random, events, { format: 'unknown', timeUnit: 'ns' })
}

const codecOf = (random: Random) => random.pick(['snappy', 'none'] as const)

/** Changes some bytes, most of them in the index at the end, or leaves some out. */
function damaged(file: Uint8Array, random: Random): Uint8Array {
  const bytes = file.slice()
  const index = new DataView(bytes.buffer).getUint32(bytes.length - 8, true)
  for (let n = 1 + random.length(6); n > 0; n--) {
    const from = random.oneIn(4) ? 0 : bytes.length - 8 - index
    const at = from + random.below(bytes.length - from)
    bytes[at] = random.oneIn(2) ? random.u32() : bytes[at] ^ (1 << random.below(8))
  }
  if (!random.oneIn(8)) return bytes
  const at = random.below(bytes.length)
  return new Uint8Array(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.length(64))]))
}

async function checkWritten(batches: readonly EventBatch[], random: Random): Promise<void> {
  const options = { codec: codecOf(random) }
  const encoder = parquet.encoder(options)
  const { bytes, error } = encode(encoder, batches)
  if (error !== undefined) throw error
  // Batches come back as they are, so that each is written by itself.
  const recycled = encodeRecycling(parquet.encoder(options), batches.map(copyOf))
  if (Buffer.compare(bytes, recycled.bytes) !== 0) throw new Failure('other bytes when memory is used again')
  const read = await readBytes(bytes)
  if (read.error !== undefined) throw new Failure(`written, but not read: ${read.error.message}`)
  const written = new Digest()
  for (const batch of batches) written.add(batch)
  if (encoder.losses.counts.size === 0 && read.digest.value !== written.value)
    throw new Failure(`${read.digest.value} read, not ${written.value}`)
}

async function checkDamaged(bytes: Uint8Array): Promise<void> {
  const { digest, error } = await readBytes(bytes)
  if (error === undefined) return
  if (!READ_ERRORS.has(error.code)) throw new Failure(`${error.code} from a reader`)
  if (error.event !== undefined && error.event !== digest.events + 1)
    throw new Failure(`${digest.events} events came, but: ${error.message}`)
  if (error.message.length > 2000) throw new Failure(`an error of ${error.message.length} characters`)
}

let seeds: readonly Uint8Array[] | undefined

/** Files that heapflow and other programs wrote. */
function seedFiles(): Uint8Array[] {
  const random = new Random()
  random.seed(1)
  const own = Array.from(
    { length: 40 },
    () => encode(parquet.encoder({ codec: codecOf(random) }), randomBatches(random)).bytes,
  )
  const folder = new URL('../../test/formats/parquet/foreign/', import.meta.url.replace('/dist/test/', '/test/'))
  const files = readdirSync(folder).filter((name) => name.endsWith('.parquet'))
  return [...own, ...files.map((name) => new Uint8Array(readFileSync(new URL(name, folder))))]
}

/** What a file with these bytes has. @throws anything but a TraceError, which is returned */
async function readBytes(bytes: Uint8Array): Promise<{ digest: Digest; error?: TraceError }> {
  const digest = new Digest()
  let isClosed = false
  const file: ParquetFile = {
    stat: async () => ({ size: bytes.length }),
    read: async ({ buffer, offset, position }) => {
      const part = bytes.subarray(position, position + buffer.length - offset)
      buffer.set(part, offset)
      return { bytesRead: part.length }
    },
    close: async () => void (isClosed = true),
  }
  const budget = new Budget()
  let error: TraceError | undefined
  try {
    for await (const batch of readParquetFile(file, () => {})) {
      digest.add(batch)
      budget.add(batch)
    }
  } catch (thrown) {
    if (!(thrown instanceof TraceError)) throw thrown
    error = thrown
  }
  if (!isClosed) throw new Failure('the file is still open')
  budget.add(bytes)
  budget.check()
  return { digest, ...(error !== undefined && { error }) }
}
