import { describe, expect, test } from 'vitest'
import { checkReplayResult } from '../../../lib/transforms/drive/read-result.js'
import { replay, replayJson } from '../../page/sample.js'

type Json = Record<string, unknown>

/** Every place of a value, as the object and the name of the property. */
function* places(value: unknown): Generator<readonly [of: Json, name: string]> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    yield [value as Json, name]
    yield* places(inner)
  }
}

/** What a report does not have, and what may be null. */
const FREE = new Set(['skipped', 'processes', 'slots', 'epochs', 'peakSizes', 'duration', 'pools'])
const NULLABLE = new Set(['library', 'timeRank', 'peakRank', 'fragmentation', 'percentiles'])

describe('the result of hf-replay', () => {
  test('has what reports show', () => {
    expect(checkReplayResult(replayJson())).toEqual(replay())
  })

  test.each([undefined, null, -1, 1e300, 'x', true, {}, [], [1], { name: 1 }])(
    'is refused with %j in any place',
    (value) => {
      const original = replayJson()
      let refused = 0
      for (const [n, [, name]] of [...places(original)].entries()) {
        const other = structuredClone(original)
        const [of, key] = [...places(other)][n]
        const before = of[key]
        of[key] = value
        const isFree = FREE.has(name) || NULLABLE.has(name) || (name === 'final' && Object.hasOwn(of, 'slots'))
        let error: unknown
        try {
          checkReplayResult(other)
        } catch (thrown) {
          error = thrown
        }
        if (error === undefined) {
          // A text is any text, and a list may be empty.
          const isSame = typeof value === typeof before && Array.isArray(value) === Array.isArray(before)
          expect(isFree || isSame, `${name} is ${JSON.stringify(value)}`).toBe(true)
        } else {
          expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED' })
          expect((error as Error).message).toMatch(/^JSON: malformed: /)
          refused++
        }
      }
      expect(refused).toBeGreaterThan(50)
    },
  )

  test('is refused without a property, and with another one', () => {
    const original = replayJson()
    for (const [n, [of, name]] of [...places(original)].entries()) {
      if (Array.isArray(of)) continue
      const [without, more] = [structuredClone(original), structuredClone(original)]
      const [place] = [...places(without)][n]
      delete place[name]
      expect(() => checkReplayResult(without), name).toThrow(/must have the property/)
      Object.assign([...places(more)][n][0], { unheardOf: 1 })
      expect(() => checkReplayResult(more), name).toThrow(/unknown property "unheardOf"/)
    }
  })

  test('has limits', () => {
    const many = (length: number, one: unknown) => Array.from({ length }, () => one)
    const [glibc] = replayJson().allocators
    for (const [length, message] of [
      [100, undefined],
      [101, 'allocators must be an array of at most 100'],
    ] as const) {
      const read = () => checkReplayResult({ ...replayJson(), allocators: many(length, glibc) })
      if (message === undefined) expect(read().allocators).toHaveLength(length)
      else expect(read).toThrow(message)
    }
    const moments = (length: number) => ({ ...glibc, moments: many(length, glibc.moments[0]) })
    expect(checkReplayResult({ ...replayJson(), allocators: [moments(512)] }).allocators[0].moments).toHaveLength(512)
    expect(() => checkReplayResult({ ...replayJson(), allocators: [moments(513)] })).toThrow('at most 512')
  })
})
