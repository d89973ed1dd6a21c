import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { BATCH_EVENTS, columnOf, U64_FIELDS } from '../../lib/event/batch.js'
import { Api, FIELDS, FieldBit, Kind, Outcome } from '../../lib/event/fields.js'

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
    const expected = new Map<string, number>()
    for (const [prefix, codes] of Object.entries({ KIND: Kind, API: Api, OUTCOME: Outcome, HAS: FieldBit })) {
      for (const [name, code] of Object.entries(codes)) expected.set(`${prefix}_${constant(name)}`, code)
    }
    expect(constants).toEqual(expected)
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

describe('the numbers that kernels and wrappers share', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const layouts = 'lib/kernel/layouts'
  const files = ['kernel', 'lib'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  )

  it.each(readdirSync(join(root, layouts)))('of %s are declared nowhere else', async (layout) => {
    const numbers = (await import(`../../${layouts}/${layout.replace('.ts', '.js')}`)) as Record<string, unknown>
    const imports = new RegExp(`layouts/${layout.replace('.ts', '')}(\\.js)?'`)
    const users = files.filter((file) => imports.test(read(file)))
    for (const folder of ['kernel', 'lib']) expect(users.some((file) => file.startsWith(folder))).toBe(true)
    const near = users.map((file) => dirname(file)).filter((folder) => folder.startsWith('lib/formats'))
    const declared = files
      .filter((file) => users.includes(file) || near.includes(dirname(file)))
      .flatMap((file) =>
        [...read(file).matchAll(/\bconst (\w+)(?:: \w+)? = (-?[\d_]+)$/gm)].map((one) => [file, ...one]),
      )
    const again = declared.filter(([, , name, value]) => numbers[name!] === Number(value!.replaceAll('_', '')))
    expect(again.map(([file, text]) => `${file}: ${text}`)).toEqual([])
  })

  it.each(readdirSync(join(root, layouts)))('of %s are nothing but numbers', (layout) => {
    const lines = read(join(layouts, layout))
      .replaceAll(/\/\*\*.*?\*\//gs, '')
      .split('\n')
    const others = lines.filter((line) => line !== '' && !/^export const [A-Z]\w* = [-\w +*<]+$/.test(line))
    expect(others).toEqual([])
  })
})
