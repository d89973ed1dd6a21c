import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BATCH_EVENTS, columnOf, U64_FIELDS } from '../../lib/event/batch.js'
import { Api, FIELDS, FieldBit, Kind, Outcome } from '../../lib/event/fields.js'
import { KERNEL_EVENTS } from '../../lib/kernel/load.js'

const source = (file: string) => readFileSync(new URL(`../../kernel/shared/${file}.ts`, import.meta.url), 'utf8')
const constant = (name: string) => name.replace(/[A-Z]/g, '_$&').replaceAll('-', '_').toUpperCase()

describe("the kernels' constants", () => {
  const constants = new Map(
    [...source('event').matchAll(/^export const (\w+): \w+ = ([\d <]+)$/gm)].map(([, name, value]) => {
      const [base, shift] = (value as string).split('<<').map(Number)
      return [name as string, (base as number) << (shift ?? 0)]
    }),
  )

  it('are those of the event model, all of them', () => {
    const expected = new Map([['BATCH_EVENTS', BATCH_EVENTS]])
    for (const [prefix, codes] of Object.entries({ KIND: Kind, API: Api, OUTCOME: Outcome, HAS: FieldBit })) {
      for (const [name, code] of Object.entries(codes)) expected.set(`${prefix}_${constant(name)}`, code)
    }
    expect(constants).toEqual(expected)
    expect(KERNEL_EVENTS).toBe(BATCH_EVENTS)
  })

  it('give every column room for a whole batch', () => {
    const sizes = new Map(
      [...source('columns').matchAll(/^export const (\w+): usize = memory\.data\((\d+)\)$/gm)].map(([, name, size]) => [
        name,
        Number(size),
      ]),
    )
    expect(sizes.size).toBe(FIELDS.length + 2)
    FIELDS.forEach(({ type }, f) => {
      const width = (U64_FIELDS >>> f) & 1 ? 8 : type === 'api' || type === 'outcome' ? 1 : 4
      expect(sizes.get(constant(columnOf(f)))).toBeGreaterThanOrEqual(width * BATCH_EVENTS)
    })
    expect(sizes.get('MASK')).toBeGreaterThanOrEqual(4 * BATCH_EVENTS)
    expect(sizes.get('KIND')).toBeGreaterThanOrEqual(BATCH_EVENTS)
  })
})
