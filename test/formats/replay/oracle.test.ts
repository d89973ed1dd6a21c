import fc from 'fast-check'
import { describe, it } from 'vitest'
import { batchesOf } from '../../../lib/event/batch.js'
import { ReplayDecoder } from '../../../lib/formats/replay/decode.js'
import { ReplayEncoder } from '../../../lib/formats/replay/encode.js'
import { ReplayDecoder as OracleDecoder } from '../../oracle/replay/decode.js'
import { ReplayEncoder as OracleEncoder } from '../../oracle/replay/encode.js'
import { encodeEvents } from '../../support/drive.js'
import { decodesLikeOracle, encodesLikeOracle } from '../../support/oracle.js'
import { anyEvent } from '../../support/random-event.js'
import { runs } from '../../support/runs.js'
import { random } from './random.js'

const number = fc.oneof(
  fc.bigInt({ min: 0n, max: 1n << 65n }).map(String),
  fc.nat({ max: 99_999_999 }).map(String),
  fc
    .tuple(fc.integer({ min: 0, max: 30 }), fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }))
    .map(([zeros, value]) => '0'.repeat(zeros) + value),
  fc.constantFrom(
    '',
    '-',
    '18446744073709551615',
    '18446744073709551616',
    '99999999999999999999',
    '9223372036854775808',
    '-9223372036854775808',
    '1a',
  ),
)
const pointer = fc.oneof(
  fc.bigInt({ min: 0n, max: 1n << 66n }).map((value) => `0x${value.toString(16)}`),
  fc
    .tuple(fc.constantFrom('', '0x', '0X'), fc.stringMatching(/^[0-9a-fA-FgG]{0,20}$/))
    .map(([prefix, digits]) => prefix + digits),
)
const blank = fc.constantFrom(' ', ' ', ' ', '\t', '  ', '')
const action = fc.constantFrom(
  'malloc',
  'malloc',
  'free',
  'calloc',
  'memalign',
  'realloc',
  'thread_done',
  'mallo',
  'freed',
  'thread_',
  '',
)
const line = fc
  .tuple(
    blank,
    fc.oneof(
      number,
      number.map((n) => `-${n}`),
    ),
    fc.constantFrom(':', ':', ':', ''),
    blank,
    action,
    fc.array(fc.tuple(blank, fc.oneof(number, pointer)), { maxLength: 7 }),
    fc.constantFrom('\n', '\n', '\r\n', ' \n', '\r', ''),
  )
  .map(
    ([first, id, colon, second, word, values, end]) =>
      first + id + colon + second + word + values.map((pair) => pair.join('')).join('') + end,
  )

describe('the kernel', () => {
  it('reads any lines like the oracle', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), fc.integer({ min: 1, max: 300 }), (lines, size) => {
        const text = `1: free 0x1\n\n2: malloc 0x20 3\n${lines.join('')}`
        decodesLikeOracle(new ReplayDecoder(), new OracleDecoder(), new Uint8Array(Buffer.from(text, 'latin1')), size)
      }),
      { numRuns: runs(3000) },
    )
  })

  it('reads damaged dumps like the oracle', () => {
    fc.assert(
      fc.property(
        random(),
        fc.nat(),
        fc.nat({ max: 255 }),
        fc.integer({ min: 1, max: 500 }),
        ({ header, events }, place, byte, size) => {
          const bytes = encodeEvents(new ReplayEncoder(), events, header)
          if (bytes.length > 0) bytes[place % bytes.length] = byte
          decodesLikeOracle(new ReplayDecoder(), new OracleDecoder(), bytes, size)
        },
      ),
      { numRuns: runs(500) },
    )
  })

  it('writes any events like the oracle, and loses the same', { tags: ['slow'] }, () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 30 }),
        fc.boolean(),
        fc.constantFrom('ns', 'us', undefined),
        (events, strict, timeUnit) => {
          const batches = batchesOf(events, { format: 'test', ...(timeUnit !== undefined && { timeUnit }) })
          encodesLikeOracle(new ReplayEncoder({ strict }), new OracleEncoder({ strict }), batches)
        },
      ),
      { numRuns: runs(2000) },
    )
  })
})
