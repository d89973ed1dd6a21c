import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Presences } from '../../../lib/formats/arrow/presence.js'
import { masksOf } from '../../../lib/formats/arrow/masks.js'
import { runs } from '../../support/runs.js'

/** Masks of which few or many differ. */
const MASKS = fc
  .array(fc.integer({ min: 0, max: 0x7fff_ffff }), { minLength: 1, maxLength: 12 })
  .chain((masks) => fc.array(fc.constantFrom(...masks), { maxLength: 100 }))

test('says which events have which fields, and the decoder gets their masks back', () => {
  const presences = new Presences()
  fc.assert(
    fc.property(MASKS, (list) => {
      presences.read(Uint32Array.from(list))
      const has = (f: number) => list.map((mask) => (mask >>> f) & 1)
      const columns = []
      for (let f = 0; f < 31; f++) {
        const expected = has(f)
        expect((presences.some >>> f) & 1).toBe(expected.includes(1) ? 1 : 0)
        expect((presences.all >>> f) & 1).toBe(expected.length > 0 && !expected.includes(0) ? 1 : 0)
        const { words, count } = presences.of(f)
        expect(count).toBe(expected.filter((bit) => bit === 1).length)
        expect(expected.map((_, i) => (words[i >> 5] >>> (i & 31)) & 1)).toEqual(expected)
        if (expected.includes(1)) columns.push({ f, bitmap: new Uint8Array(words.slice().buffer) })
      }
      expect([...masksOf(columns, list.length)]).toEqual(list)
    }),
    { numRuns: runs(200) },
  )
})
