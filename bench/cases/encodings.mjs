// The encodings of the size study (see size/): writing and reading records in memory, plain and through gzip. Only the
// study runs this case.
import { gunzipSync, gzipSync } from 'node:zlib'
import { countOf } from '../drive.mjs'
import { GZIP_LEVEL } from '../size/compress.mjs'
import { ENCODINGS } from '../size/encodings.mjs'
import { dataBatches, RecordMaker } from '../size/records.mjs'

/** The operations on an encoding, which are the first words of the tasks' names. */
export const ACTIONS = ['read', 'write', 'read gzip', 'write gzip']

/** The encodings that are timed. */
export const TIMED = ENCODINGS.filter(({ read }) => read !== undefined)

/**
 * @param {{ path: string, widths: import('../size/survey.mjs').Widths, events: number }} input a trace, of which the
 * beginning is used
 * @returns {Promise<import('../measure.mjs').Task[]>}
 */
export async function tasks({ path, widths, events }) {
  const batches = []
  for await (const batch of dataBatches(path, false, events)) batches.push(batch)
  const maker = new RecordMaker()
  const records = batches.reduce((sum, batch) => sum + maker.of(batch).count, 0)
  return TIMED.flatMap((encoding) => {
    const write = () => streamsOf(encoding, batches, widths)
    const read = (streams) => {
      let count = 0
      encoding.read(streams, widths, (batch) => {
        count += countOf(batch)
      })
      if (count !== records) throw new Error(`${encoding.name}: read ${count} of ${records} records`)
      return count
    }
    const streams = write()
    const compressed = streams.map(compress)
    const runs = [
      () => read(streams),
      () => lengths(write()),
      () => read(compressed.map((bytes) => gunzipSync(bytes))),
      () => lengths(write().map(compress)),
    ]
    const bytes = lengths(streams)
    return ACTIONS.map((action, i) => ({ name: `${action}, ${encoding.name}`, events: records, bytes, run: runs[i] }))
  })
}

/** The output of an encoding, each stream in one piece. */
function streamsOf({ streams, writer }, batches, widths) {
  const pieces = Array.from({ length: streams }, () => [])
  const give = (stream, bytes) => pieces[stream].push(bytes)
  const target = writer(widths)
  for (const batch of batches) target.feed(batch, give)
  target.end(give)
  return pieces.map((parts) => Buffer.concat(parts))
}

function compress(bytes) {
  return gzipSync(bytes, { level: GZIP_LEVEL })
}

function lengths(streams) {
  return streams.reduce((sum, { length }) => sum + length, 0)
}
