import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HatfEncoder, type SplitOptions } from '../../../../lib/formats/hatf/index.js'
import { encodeEvents } from '../../../support/drive.js'
import { runs } from '../../../support/runs.js'
import { alloc, comment, hex, join as concat, V1 } from '../bytes.js'
import { random } from '../random.js'
import { referenceEncode } from '../reference.js'
import { eventsOf, FIELDS, join, separate } from './support.js'

const sizes = fc.constantFrom(1, 7, 64, undefined)
const options: fc.Arbitrary<SplitOptions> = fc.record({ fields: fc.subarray([...FIELDS]), encoded: fc.boolean() })

describe('separating', () => {
  it('takes the addresses out and leaves the rest where it is', () => {
    const { tracks, records } = separate(
      concat(alloc(0x10, 0x1000), hex('01 00001000'), comment('hi'), hex('03 00000020 00001000 00002000')),
    )
    expect(tracks).toEqual([
      concat(hex('00 00000010 01'), comment('hi'), hex('03 00000020')),
      hex('00001000 00001000 00001000 00002000'),
    ])
    expect(records).toBe(4)
  })

  it('follows widths, and leaves what is encoded alone', () => {
    const bytes = hex(
      '0b010102 00 00000001 aabb 0b020102 0000000000001000 00 00000002 ccdd 0b020100 00 00000003 eeff 0b010100 01',
    )
    expect(separate(bytes).tracks).toEqual([
      hex('0b010102 00 00000001 0b020102 0000000000001000 00 00000002 ccdd 0b020100 00 00000003 0b010100 01'),
      hex('aabb eeff'),
    ])
    expect(separate(bytes, { encoded: true }).tracks[1]).toEqual(hex('aabb ccdd eeff'))
  })

  it('takes attributes without their length', () => {
    const bytes = concat(V1, alloc(1, 2, 'abc'), hex('0b01050a'), hex('01 00000002 0002 6869'))
    const { tracks } = separate(bytes, { fields: ['attributes', 'size'] })
    expect(tracks).toEqual([
      concat(V1, hex('00 00000002 03 0b01050a 01 00000002 0002')),
      hex('00000001'),
      new Uint8Array(Buffer.from('abchi')),
    ])
  })

  it('has no fields to take out, or all of them', () => {
    const bytes = concat(alloc(1, 2), alloc(3, 4))
    expect(separate(bytes, { fields: [] }).tracks).toEqual([bytes])
    expect(separate(bytes, { fields: FIELDS }).tracks[0]).toEqual(hex('00 00'))
  })

  it('and joining again gives the same bytes, whatever the fields and chunks', () => {
    fc.assert(
      fc.property(random(), fc.integer({ min: 1 }), options, sizes, sizes, ({ events }, seed, split, size, again) => {
        const bytes = referenceEncode(events, seed)
        const { tracks, records, error } = separate(bytes, split, size)
        expect(error).toBeUndefined()
        expect(tracks.reduce((sum, { length }) => sum + length, 0)).toBe(bytes.length)
        expect(separate(bytes, split).tracks).toEqual(tracks)
        expect(join(tracks, split, again)).toEqual({ bytes, records })
      }),
      { numRuns: runs(400) },
    )
  })

  it('of what our own encoder writes', () => {
    fc.assert(
      fc.property(random(), options, sizes, ({ header, events }, split, size) => {
        const bytes = encodeEvents(new HatfEncoder(), events, header)
        expect(join(separate(bytes, split, size).tracks, split).bytes).toEqual(bytes)
      }),
    )
  })

  it('gives pieces of bounded size, also of the longest records', () => {
    const long = concat(
      hex('0b020500 0b01050a'),
      ...Array.from({ length: 20 }, () => concat(hex('01 00000002 ffff'), new Uint8Array(0xffff).fill(1))),
    )
    for (const fields of [['address'], ['attributes']] as const) {
      const { tracks, error } = separate(long, { fields })
      expect(error).toBeUndefined()
      expect(Buffer.compare(join(tracks, { fields }).bytes, long)).toBe(0)
    }
  })
})

const small = concat(
  alloc(0x10, 0x1000),
  hex('0b020300 0b010301'),
  V1,
  hex('00 00000010 00001000 05 00'),
  comment('hello'),
  hex('0b020103 0000000000001000 0b010101'),
  hex('00 00000020 20 05 02 6869  01 e0 05 00  0b020100 0b010102 03 00000020 0010 2000 05 00'),
)

describe('faults', () => {
  it.each([
    ['an unknown tag', '0c', /unknown tag 12/],
    ['an unknown operation', '0b030000', /metadata operation 3/],
    ['an unknown width', '0b010003', /unknown width 3 for size/],
  ])('%s: the records before it, then the place', (_, digits, message) => {
    const good = concat(alloc(1, 0x10), alloc(2, 0x20))
    for (const size of [1, 7, undefined]) {
      const { tracks, records, error } = separate(concat(good, hex(digits), alloc(3, 0x30)), undefined, size)
      expect(tracks[1]).toEqual(hex('00000010 00000020'))
      expect(records).toBe(2)
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'hatf', offset: 18, event: 3 })
      expect(error?.message).toMatch(message)
      const main = concat(hex('00 00000001 00 00000002'), hex(digits))
      expect(join([main, hex('00000010 00000020')], undefined, size).error).toMatchObject({
        code: 'ERR_TRACE_MALFORMED',
        offset: 10,
        event: 3,
      })
      expect(join([main, hex('00000010 00000020')], undefined, size).bytes).toEqual(good)
    }
  })

  it('cut anywhere: the whole records, then an error unless it was cut between records', () => {
    for (let length = 0; length < small.length; length++) {
      const { tracks, records, error } = separate(small.subarray(0, length), undefined, 5)
      const back = join(tracks).bytes
      expect(small.subarray(0, back.length)).toEqual(back)
      if (error === undefined) expect(back.length).toBe(length)
      else expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', offset: back.length, event: records + 1 })
    }
  })

  it('either track cut anywhere: the whole records, then an error, unless both end with the same record', () => {
    const { tracks } = separate(small, { fields: ['address', 'attributes'] })
    tracks.forEach((track, cut) => {
      for (let length = 0; length < track.length; length++) {
        for (const size of [1, undefined]) {
          const { bytes, records, error } = join(
            tracks.map((all, t) => (t === cut ? all.subarray(0, length) : all)),
            { fields: ['address', 'attributes'] },
            size,
          )
          expect(small.subarray(0, bytes.length)).toEqual(bytes)
          expect(records).toBe(eventsOf(bytes).length)
          expect(error).toMatchObject({ format: 'hatf', event: records + 1 })
        }
      }
    })
  })

  it('says which stream ends early, or goes on', () => {
    const [main, addresses] = separate(small).tracks as [Uint8Array, Uint8Array]
    expect(join([main, addresses.subarray(0, 6)]).error?.message).toBe(
      'hatf: byte 4, event 2: truncated: the address stream ends before the trace does',
    )
    for (const size of [1, undefined]) {
      expect(join([main, concat(addresses, hex('00'))], undefined, size).error?.message).toBe(
        `hatf: byte ${addresses.length}, event 7: malformed: the address stream goes on where the trace ends`,
      )
    }
    expect(join([main.subarray(0, -1), addresses]).error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
  })

  it('random bytes: joined or an error', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.uint8Array({ maxLength: 200 }),
        options,
        (main, field, split) => {
          const tracks = [main, ...(split.fields ?? []).map(() => field)]
          const { bytes, error } = join(tracks, split)
          if (error === undefined) expect(separate(bytes, split).tracks).toEqual(tracks)
          else expect(error.name).toBe('TraceError')
        },
      ),
    )
  })
})
