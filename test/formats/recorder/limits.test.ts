import { describe, expect, test } from 'vitest'
import { RecorderDecoder } from '../../../lib/formats/recorder/decode.js'
import { MAX_MODULES, MAX_STRING } from '../../../lib/formats/recorder/layout.js'
import { decodeAll } from '../../support/drive.js'
import { BEGINNING, difference as d, end, number as n, PROCESS, record as r, recording, string } from './bytes.js'

const ONE = r('malloc', n(5), d(0x1000), n(10), n(14), d(0))
const text = (length: number) => string('x'.repeat(length))

/** Records with a string of a length; the event before each is one. */
const STRINGS: Record<string, (length: number) => number[]> = {
  'a path of a module': (length) => r('module', n(0), n(0), text(length)),
  'a build id': (length) => r('module', n(0), text(length), text(1)),
  'a name of a thread': (length) => r('name', text(length)),
  'a command of a child': (length) => r('child', n(50), n(1), n(0), text(length)),
}

test.each(Object.entries(STRINGS))('%s has a limit', { tags: ['slow'] }, (_, make) => {
  for (const step of [1000, 1_000_000]) {
    for (const length of [MAX_STRING - 1, MAX_STRING]) {
      const { events, error } = decodeAll(new RecorderDecoder(), recording(PROCESS, ONE, make(length), end(1)), step)
      expect(error).toBeUndefined()
      expect(events).toHaveLength(2)
      expect(events[1]?.text?.length).toBeGreaterThanOrEqual(length)
    }
    const { events, error } = decodeAll(new RecorderDecoder(), recording(PROCESS, ONE, make(MAX_STRING + 1)), step)
    const offset = recording(PROCESS, ONE).length
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', format: 'recorder', offset, event: 2 })
    expect(events).toHaveLength(1)
  }
})

test('the command of the process has a limit', () => {
  const read = (length: number) =>
    decodeAll(
      new RecorderDecoder(),
      Uint8Array.from([...BEGINNING, PROCESS[0]!, ...n(4711), ...text(length), ...ONE, ...end(1)]),
    )
  for (const length of [MAX_STRING - 1, MAX_STRING]) expect(read(length).events).toHaveLength(1)
  expect(read(MAX_STRING + 1).error).toMatchObject({ code: 'ERR_TRACE_LIMIT', offset: BEGINNING.length, event: 1 })
})

describe('the number of modules', () => {
  const module = r('module', n(0), n(0), string('a'))
  const read = (count: number) =>
    decodeAll(
      new RecorderDecoder(),
      recording(PROCESS, ONE, Array.from({ length: count }, () => module).flat(), end(1)),
    )

  test('has a limit', { tags: ['slow'] }, () => {
    for (const count of [MAX_MODULES - 1, MAX_MODULES]) {
      const { batches, error } = read(count)
      expect(error).toBeUndefined()
      expect(batches.reduce((sum, batch) => sum + batch.count, 0)).toBe(count + 1)
    }
    const { events, error } = read(MAX_MODULES + 1)
    const offset = recording(PROCESS, ONE).length + MAX_MODULES * module.length
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', offset, event: MAX_MODULES + 2 })
    expect(events).toHaveLength(MAX_MODULES + 1)
  })
})

test('very many notes of recordings are few warnings', () => {
  const count = 2000
  const decoder = new RecorderDecoder()
  const { batches, error } = decodeAll(
    decoder,
    recording(PROCESS, Array.from({ length: count }, () => r('attached', n(0))).flat(), end(0)),
  )
  expect(error).toBeUndefined()
  expect(batches.reduce((sum, batch) => sum + batch.count, 0)).toBe(count)
  expect(decoder.warnings).toHaveLength(100)
})
