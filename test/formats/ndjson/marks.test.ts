import { describe, expect, test } from 'vitest'
import { ndjson } from '../../../lib/formats/ndjson/index.js'
import { decodeAll, encodeAll } from '../../support/drive.js'

const decode = (header: object) =>
  decodeAll(
    ndjson.decoder(),
    Buffer.from(`${JSON.stringify({ kind: 'header', format: 'x', ...header })}\n{"kind":"end","events":0}\n`),
  )

describe('Marks in a header', () => {
  test.each([
    { filtered: true },
    { part: { of: 'a1', trace: 1 } },
    { layout: { version: 1 }, filtered: true, part: { of: 'a1', trace: 2, whole: true, first: 2 ** 40 } },
  ])('come back as they were: %o', (marks) => {
    const { batches, headers, error } = decode(marks)
    expect(error).toBe(undefined)
    expect(headers).toEqual([{ format: 'x', ...marks }])
    const [line] = Buffer.from(encodeAll(ndjson.encoder(), batches)).toString().split('\n')
    expect(line).toBe(JSON.stringify({ kind: 'header', format: 'x', ...marks }))
  })

  test('that say no are none', () => {
    expect(decode({ filtered: false, part: { of: 'a', trace: 1, whole: false } }).headers).toEqual([
      { format: 'x', part: { of: 'a', trace: 1 } },
    ])
  })

  test('a number that JSON has no room for is malformed, because it would be written as null', () => {
    const line = '{"kind":"header","format":"x","layout":{"a":1e999}}\n'
    expect(decodeAll(ndjson.decoder(), Buffer.from(line)).error).toMatchObject({
      code: 'ERR_TRACE_MALFORMED',
      message: expect.stringContaining("the header's layout must be") as unknown,
    })
  })

  test('a mark that is neither true nor false is malformed', () => {
    expect(decode({ filtered: 'yes' }).error).toMatchObject({
      code: 'ERR_TRACE_MALFORMED',
      message: expect.stringContaining('filtered must be true or false, not "yes"') as unknown,
    })
  })

  test.each([
    { part: 1 },
    { part: 7 },
    { part: {} },
    { part: { of: 'a' } },
    { part: { of: 1, trace: 1 } },
    { part: { of: 'a', trace: 0 } },
    { part: { of: 'a', trace: 1.5 } },
    { part: { of: 'a', trace: 1, first: -1 } },
  ])('that make no sense are malformed: %o', (marks) => {
    expect(decode(marks).error).toMatchObject({
      code: 'ERR_TRACE_MALFORMED',
      message: expect.stringContaining("the header's part must have an id") as unknown,
    })
  })
})
