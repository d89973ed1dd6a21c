import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { MtrcDecoder, MtrcEncoder, mtrc } from '../../../lib/formats/mtrc/index.js'
import { corpusFile, hasCorpus } from '../../support/corpus.js'
import { decodeAll, drive, encodeAll, slices } from '../../support/drive.js'
import { parseVerbose, type VerboseEvent } from './verbose.js'

/** Trace, its number of events with those of reserved memory, and its version. */
const TRACES = [
  ['cxx64', 111, 10501],
  ['espresso-tiny32', 56_828, 10501],
  ['espresso-tiny64pie', 56_830, 10501],
  ['fork-child64', 3, 10501],
  ['fork-parent64', 16, 10501],
  ['legacy-cpp', 930, 10300],
  ['legacy-gcc', 326, 10300],
  ['mt64', 18_621, 10501],
  ['small32', 2798, 10501],
  ['small64', 2798, 10501],
  ['small64pie', 2798, 10501],
] as const

/** An event as `parseVerbose` gives it. */
function asPrinted(event: TraceEvent): VerboseEvent {
  const { kind, type, index, address = 0n, size = 0n, thread = 0n, function: name, file, line } = event
  return {
    type: type ?? kind,
    ...(index !== undefined && { index }),
    address,
    size,
    thread,
    ...(name !== undefined && { function: name }),
    ...(file !== undefined && { file, line: line as number }),
  }
}

describe.skipIf(!hasCorpus).each(TRACES)('the real trace %s', (name, count, version) => {
  const read = () => corpusFile(`mtrc/${name}.mtrc`)

  it('is known by its beginning', () => expect(mtrc.sniff(read().subarray(0, 512))).toBe(true))

  it("has the events that mpatrol's own reader prints", () => {
    const { batches, events, headers, error } = decodeAll(new MtrcDecoder(), read(), 65_536)
    expect(error).toBeUndefined()
    expect(headers[0]?.layout?.version).toBe(version)
    expect(events).toHaveLength(count)
    // That reader stops where a second header stands in place of a record.
    const first = batches.filter(({ header }) => header === headers[0]).flatMap((batch) => [...batch])
    const printed = parseVerbose(new TextDecoder().decode(corpusFile(`mtrc/${name}.verbose.txt`)))
    expect(printed.length).toBeGreaterThan(2)
    expect(first.map(asPrinted)).toEqual(printed)
  })

  // Byte by byte is slow, and small traces have all that large ones have.
  const sizes = count < 5000 ? [1, 7, 64, undefined] : [7, 64, undefined]
  it.each(sizes)('comes out as it went in, in chunks of %s bytes', (size) => {
    const bytes = read()
    for (const resolve of [true, false]) {
      const { out, error } = drive(new MtrcDecoder({ resolve }), slices(bytes, size))
      expect(error).toBeUndefined()
      const encoder = new MtrcEncoder({ strict: true })
      expect(Buffer.compare(encodeAll(encoder, out), bytes)).toBe(0)
      expect(encoder.losses.counts.size).toBe(0)
    }
  })
})

describe.skipIf(!hasCorpus)('the trace of a program that forked', () => {
  it('has two traces, and a warning for the one without an end marker', () => {
    const decoder = new MtrcDecoder()
    const { headers, events } = decodeAll(decoder, corpusFile('mtrc/fork-parent64.mtrc'))
    expect(headers.map(({ layout }) => layout?.follows)).toEqual([undefined, 'cut'])
    expect(events.filter(({ kind }) => kind !== 'reserve').map(({ kind, index }) => `${kind} ${index}`)).toEqual([
      'alloc 7',
      'alloc 10',
      'alloc 7',
      'alloc 10',
      'free 10',
      'alloc 11',
    ])
    expect(decoder.warnings).toEqual(['mtrc: byte 104, event 8: the trace has no end marker: another one begins here'])
  })
})
