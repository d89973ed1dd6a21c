import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { LtraceDecoder } from '../../lib/formats/ltrace/decode.js'
import { TracepointsDecoder } from '../../lib/formats/tracepoints/decode.js'
import { ValgrindDecoder } from '../../lib/formats/valgrind/decode.js'
import { decodeAll } from '../support/drive.js'

const DECODERS = { valgrind: ValgrindDecoder, ltrace: LtraceDecoder, tracepoints: TracepointsDecoder }

/** The text of a fixture, of at most 100,000 bytes. */
function textOf(url: URL): string {
  const bytes = readFileSync(url)
  const text = (url.pathname.endsWith('.gz') ? gunzipSync(bytes) : bytes).subarray(0, 100_000).toString('latin1')
  return text.slice(0, text.lastIndexOf('\n') + 1)
}

describe.each(Object.entries(DECODERS))('%s', (format, Decoder) => {
  const folder = new URL(`../fixtures/${format}/`, import.meta.url)
  test.each(readdirSync(folder))('lines that end in CR LF, as those of a terminal, are read as others: %s', (name) => {
    const text = textOf(new URL(name, folder))
    const read = (bytes: Uint8Array, size?: number) => {
      const decoder = new Decoder()
      const { events, error } = decodeAll(decoder, bytes, size)
      return { events, error, warnings: decoder.warnings }
    }
    const plain = read(Buffer.from(text, 'latin1'))
    expect(plain.events.length).toBeGreaterThan(10)
    for (const end of ['\r\n', '\r\r\n']) {
      const other = Buffer.from(text.replaceAll('\n', end), 'latin1')
      for (const size of [undefined, 61]) expect(read(other, size)).toEqual(plain)
    }
  })
})
