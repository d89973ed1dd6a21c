import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Format } from '../../lib/event/format.js'
import { sniffFormat } from '../support/formats.js'
import { corpusFile, corpusTraces } from '../support/corpus.js'
import { decodeAll, encodeAll } from '../support/drive.js'
import { xorshift } from '../support/hostile-calls.js'
import { runs } from '../support/runs.js'
import { ndjson } from '../../lib/formats/ndjson/index.js'

const LF = 0x0a
/** How much of a trace is decoded for each cut: the cost of a cut must not grow with the trace. */
const PART = 24_000

const files = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/\.(md|ndjson)$/.test(name) && /\.\w+$/.test(name))
    .map((name) => `${folder}/${name}`)

function read(path: string): Uint8Array {
  const bytes = readFileSync(path)
  return new Uint8Array(path.endsWith('.gz') ? gunzipSync(bytes) : bytes)
}

/** Lines of the events of a trace, as text. */
function eventsOf(format: Format, bytes: Uint8Array): { lines: string[]; code: string | undefined } {
  const { batches, error } = decodeAll(format.decoder(), bytes, 4096)
  const text = Buffer.from(encodeAll(ndjson.encoder(), batches)).toString()
  const lines = text.split('\n').filter((line) => line !== '' && !/^\{"kind":"(header|end)"/.test(line))
  return { lines, code: (error as { code?: string } | undefined)?.code }
}

/** Takes away the stack of the last event: its lines may follow that of the event, so a trace may end between them. */
function cutLastStack(lines: string[]): void {
  const { stack: _, ...event } = JSON.parse(lines.pop() ?? '{}') as { stack?: string[] }
  lines.push(JSON.stringify(event))
}

/**
 * Cuts a text trace: no event may be one that the whole trace does not have, and what ends within a line is truncated.
 */
function cuts(path: string, bytes: Uint8Array, count: number): void {
  const format = sniffFormat(bytes)!
  // The last part, behind the head of the trace, whose first lines say what the others mean.
  const whole = bytes.length <= 2 * PART ? bytes : bytes.subarray(0, bytes.lastIndexOf(LF, 2 * PART) + 1)
  const { lines } = eventsOf(format, whole)
  const random = xorshift(path.length)
  for (let i = 0; i < count; i++) {
    const reach = i % 2 === 0 ? Math.min(1500, whole.length - 64) : whole.length - 64
    const end = whole.length - 1 - random(reach)
    const cut = eventsOf(format, whole.subarray(0, end))
    const wanted = lines.slice(0, cut.lines.length)
    if (cut.code === undefined) for (const list of [cut.lines, wanted]) cutLastStack(list)
    expect(cut.lines, `${path}, ${end} bytes`).toEqual(wanted)
    // NDJSON's last line is complete without a line feed.
    if (whole[end - 1] !== LF && (format.name !== 'ndjson' || end < whole.length - 1))
      expect(cut.code, `${path}, ${end} bytes`).toBe('ERR_TRACE_TRUNCATED')
  }
}

const isText = (bytes: Uint8Array) => sniffFormat(bytes)?.binary === false

describe('a text trace that is cut', () => {
  test.each([...files('test/fixtures'), ...files('test/golden')].filter((path) => isText(read(path))))('%s', (path) =>
    cuts(path, read(path), runs(300)),
  )
})

describe('a text trace of the corpus that is cut', { tags: ['corpus'], timeout: 600_000 }, () => {
  test.each(corpusTraces().filter((name) => !name.endsWith('.zst') && !name.endsWith('.zip')))('%s', (name) => {
    const bytes = new Uint8Array(corpusFile(name.replace(/\.gz$/, '')))
    if (isText(bytes)) cuts(name, bytes, 300)
  })
})
