import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { TraceError } from '../../lib/event/error.js'
import type { TraceHeader } from '../../lib/event/header.js'
import { isWritable, type Format } from '../../lib/event/format.js'
import type { Encoder } from '../../lib/event/stage.js'
import { sniffFormat as sniffUnloaded } from '../../lib/formats/index.js'
import { sniffFormat } from './formats.js'
import { ndjson } from '../../lib/formats/ndjson/index.js'
import { conformance as kit } from '../../lib/testing/conformance.js'
import { decodeAll, encodeAll } from './drive.js'
import { runs, someOf } from './runs.js'

const GOLDEN = fileURLToPath(new URL('../golden/', import.meta.url))
const SIZES = [1, 7, 64, 1 << 20]

type Writes = (options?: object) => Encoder

/** What a format promises beyond what all of them do. */
export interface Promises {
  /** Decode options under which every record is an event of its own. */
  raw?: object
  /** Traces that the format can say all of; of a format that can be written. */
  random?: fc.Arbitrary<{ header: TraceHeader; events: TraceEvent[] }>
  /** How golden files were encoded, by their names, where not as the encoder does by itself. */
  encode?: Readonly<Record<string, object>>
  /** Golden files in which what came first was written in view of what came later. */
  lookedAhead?: readonly string[]
}

/**
 * What every format has to pass: its golden files (each beside an `.ndjson` with its events) are recognised, decode to
 * those events in chunks of any size, come back byte for byte, and cut or with any bit flipped give an error or another
 * trace, and never anything else; and whatever events it can say come back as they are. A format that can only be read
 * has to pass what is about reading.
 */
export function conformance(format: Format, { raw, random, encode = {}, lookedAhead = [] }: Promises): void {
  const encoder = isWritable(format) ? (options?: object) => format.encoder(options) : undefined

  describe(`${format.name} conforms`, () => {
    const folder = join(GOLDEN, format.name)
    const files = readdirSync(folder).filter((name) => extname(name) !== '.ndjson')

    describe.each(files)('%s', (name) => {
      const bytes = new Uint8Array(readFileSync(join(folder, name)))
      const golden = new Uint8Array(readFileSync(join(folder, `${name.slice(0, -extname(name).length)}.ndjson`)))
      const records = decodeAll(format.decoder(raw), bytes).events

      test('is recognised by its first bytes', () => {
        expect(sniffFormat(bytes)?.name).toBe(format.name)
        expect(sniffFormat(bytes.slice(0, 64))?.name).toBe(format.name)
      })

      test.each(SIZES)('decodes to the golden events, in chunks of %i', (size) => {
        const { batches, error } = decodeAll(format.decoder(), bytes, size)
        expect(error).toBeUndefined()
        expect(Buffer.from(encodeAll(ndjson.encoder(), batches)).toString()).toBe(Buffer.from(golden).toString())
      })

      test.each(format.binary ? [] : SIZES)('may begin with a byte order mark, in chunks of %i', async (size) => {
        const marked = new Uint8Array(Buffer.concat([Buffer.from('\ufeff'), bytes]))
        expect((await sniffUnloaded(marked.slice(0, 4096)))?.name).toBe(format.name)
        const { batches, error } = decodeAll(format.decoder(), marked, size)
        expect(error).toBeUndefined()
        expect(Buffer.from(encodeAll(ndjson.encoder(), batches)).toString()).toBe(Buffer.from(golden).toString())
      })

      // Where batches come back as they are, those of small chunks are written as small ones.
      test.runIf(encoder).each(format.keepsBatches === true ? SIZES.slice(-1) : SIZES)(
        'is encoded from the golden events, in chunks of %i, to the same bytes',
        (size) => {
          const { batches } = decodeAll(ndjson.decoder(), golden, size)
          expect(Buffer.from(encodeAll((encoder as Writes)(encode[name]), batches))).toEqual(Buffer.from(bytes))
        },
      )

      test('cut anywhere: the whole events, then one error that says where', () => {
        for (const length of someOf(bytes.length)) {
          const prefix = bytes.slice(0, length)
          const decoder = format.decoder(raw)
          const { events, error } = decodeAll(decoder, prefix, 64)
          const whole = records.slice(0, events.length)
          const ofCut = error === undefined ? withoutLastStack : (some: readonly TraceEvent[]) => some
          expect(ofCut(events)).toEqual(ofCut(whole))
          if (error !== undefined) checkError(error, format, events, length)
          else if (encoder !== undefined && (decoder.warnings ?? []).length === 0 && !lookedAhead.includes(name)) {
            // Then it is whole by itself: formats without an end mark can be cut between records. What it says is in
            // the bytes of its events, up to a mark that it ends there, the line feed after NDJSON's, and metadata that
            // nothing follows.
            const again = Buffer.from(encodeAll(encoder(encode[name]), decodeAll(format.decoder(), prefix).batches))
            const said = Buffer.from(prefix)
            expect(
              said.equals(again) ||
                /^(#|= End)\n$/.test(String(again.subarray(said.length))) ||
                (/\{"kind":"end".*\}$/.test(String(said)) && Buffer.concat([said, Buffer.from('\n')]).equals(again)) ||
                (raw !== undefined && said.subarray(0, again.length).equals(again)),
            ).toBe(true)
          }
        }
      })
    })

    const samples = files.map((name) => ({ name, bytes: readFileSync(join(folder, name)), encode: false as const }))
    const checks = kit(format, {
      samples,
      most: runs(4000),
      ...(raw && { raw }),
      ...(random && { traces: fc.sample(random, runs(100)) }),
    })
    for (const { name, run } of checks)
      test(name, { tags: /endless|cannot be written/.test(name) || format.name === 'compact' ? ['slow'] : [] }, run)
  })
}

/** A text may have the lines of a stack after that of its event, and be cut between them. */
function withoutLastStack(events: readonly TraceEvent[]): object[] {
  return events.map((event, i) => (i === events.length - 1 ? { ...event, stack: undefined } : event))
}

function checkError(error: Error | undefined, format: Format, events: readonly TraceEvent[], length: number): void {
  expect(error).toBeInstanceOf(TraceError)
  const { offset, event, message } = error as TraceError
  expect(message.startsWith(`${format.name}: `)).toBe(true)
  expect(offset).toBeGreaterThanOrEqual(0)
  expect(offset).toBeLessThanOrEqual(length)
  expect(event).toBe(events.length + 1)
}
