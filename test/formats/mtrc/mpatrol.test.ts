import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { MtrcDecoder, MtrcEncoder, mtrc } from '../../../lib/formats/mtrc/index.js'
import { decodeAll, drive, encodeAll, slices } from '../../support/drive.js'
import { IN_CORPUS, mpatrolFile, RECORDED } from './mpatrol.js'
import { parseVerbose, type VerboseEvent } from './verbose.js'

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

function comparesWithMpatrol(name: string, count: number, version: number): void {
  const read = () => mpatrolFile(`${name}.mtrc`)

  it('is known by its beginning', () => expect(mtrc.sniff(read().subarray(0, 512))).toBe(true))

  it("has the events that mpatrol's own reader prints", () => {
    const { batches, events, headers, error } = decodeAll(new MtrcDecoder(), read(), 65_536)
    expect(error).toBeUndefined()
    expect(headers[0]?.layout?.version).toBe(version)
    expect(events).toHaveLength(count)
    // That reader stops where a second header stands in place of a record.
    const first = batches.filter(({ header }) => header === headers[0]).flatMap((batch) => [...batch])
    const printed = parseVerbose(new TextDecoder().decode(mpatrolFile(`${name}.verbose.txt`)))
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
}

describe.each(RECORDED)('the real trace %s', comparesWithMpatrol)
describe.each(IN_CORPUS)('the real trace %s of the corpus', { tags: ['corpus'] }, comparesWithMpatrol)

describe('the trace of a program that forked', () => {
  it('has two traces, and a warning for the one without an end marker', () => {
    const decoder = new MtrcDecoder()
    const { headers, events } = decodeAll(decoder, mpatrolFile('fork-parent64.mtrc'))
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
