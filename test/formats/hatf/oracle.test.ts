import fc from 'fast-check'
import { describe, it } from 'vitest'
import { batchesOf } from '../../../lib/event/batch.js'
import { HatfDecoder } from '../../../lib/formats/hatf/decode.js'
import { HatfDecoder as OracleDecoder } from '../../oracle/hatf/decode.js'
import { HatfEncoder as OracleEncoder } from '../../oracle/hatf/encode.js'
import { encodeAll, encodeEvents } from '../../support/drive.js'
import { decodesLikeOracle } from '../../support/oracle.js'
import { random, randomAll, randomRuns } from './random.js'

const preset = fc.constantFrom('naive' as const, 'best' as const)
const pieces = fc.integer({ min: 1, max: 500 })

/** Any records: metadata that makes sense more often than not, between bytes that may be records or not. */
const metadata = fc
  .tuple(fc.constantFrom(1, 2, 2, 2, 0, 3), fc.integer({ min: 0, max: 6 }), fc.oneof({ weight: 8, arbitrary: fc.constantFrom(0, 1, 2, 4, 8) }, fc.integer({ min: 0, max: 11 })), fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.boolean())
  .map(([operation, field, setting, values, isSmall]) => {
    if (isSmall) values.fill(0, 0, 7)
    const length = operation !== 2 || setting === 0 || setting > 4 ? 0 : setting === 4 ? 16 : 8
    return [11, operation, field, setting, ...values.subarray(0, length)]
  })
const record = fc.tuple(fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), fc.uint8Array({ minLength: 8, maxLength: 24 })).map(([tag, bytes]) => [tag, ...bytes])
const zeros = fc.constantFrom(0, 1, 3, 4, 5).map((tag) => [tag, ...new Uint8Array(12)])

describe('the kernel', () => {
  it.each([true, false])('reads any metadata and records like the oracle, fold: %s', (fold) => {
    fc.assert(
      fc.property(fc.array(fc.oneof(metadata, record, zeros), { maxLength: 12 }), pieces, (parts, size) => {
        decodesLikeOracle(new HatfDecoder({ fold }), new OracleDecoder({ fold }), Uint8Array.from(parts.flat()), size)
      }),
      { numRuns: 5000 },
    )
  })

  it('reads what it wrote, whole, damaged or cut, like the oracle', () => {
    fc.assert(
      fc.property(fc.oneof(random(), randomRuns()), preset, fc.boolean(), fc.nat(), fc.nat({ max: 255 }), fc.integer({ min: 0, max: 3 }), pieces, ({ header, events }, preset, fold, place, byte, damage, size) => {
        let bytes = encodeEvents(new OracleEncoder({ preset }), events, header)
        if (damage === 1) bytes = bytes.subarray(0, place % (bytes.length + 1))
        else if (damage === 2 && bytes.length > 0) bytes[place % bytes.length] = byte
        decodesLikeOracle(new HatfDecoder({ fold }), new OracleDecoder({ fold }), bytes, size)
      }),
      { numRuns: 2000 },
    )
  })

  it('reads attributes, comments and headers like the oracle', () => {
    fc.assert(
      fc.property(randomAll(), preset, fc.boolean(), fc.nat(), fc.nat({ max: 255 }), fc.boolean(), pieces, (traces, preset, fold, place, byte, isDamaged, size) => {
        const bytes = encodeAll(new OracleEncoder({ preset, attributes: true }), traces.flatMap(({ header, events }) => batchesOf(events, header)))
        if (isDamaged && bytes.length > 0) bytes[place % bytes.length] = byte
        decodesLikeOracle(new HatfDecoder({ fold }), new OracleDecoder({ fold }), bytes, size)
      }),
      { numRuns: 1000 },
    )
  })
})
