import { describe, expect, test } from 'vitest'
import { batchesOf } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { LoadedModules, MAX_MODULES, MAX_PARTS } from '../../../lib/streams/symbols/loaded-modules.js'
import { stopwatch } from '../../support/stopwatch.js'

const RECORDING: TraceHeader = { format: 'recorder' }
const raw = (version: number): TraceHeader => ({ format: 'heaptrack', layout: { raw: true, version } })

function noted(header: TraceHeader, texts: readonly string[]): LoadedModules {
  const modules = new LoadedModules()
  for (const batch of batchesOf(
    texts.map((text) => ({ kind: 'comment', text })),
    header,
  ))
    modules.note(batch)
  return modules
}

describe('modules of a raw file of heaptrack', () => {
  test.each<[number, string, string | undefined]>([
    [3, 'm 6 /a b 1 1000 10 20', '/a b 1'],
    [3, 'm 4 /a b 1000 10 20', '/a b'],
    [3, 'm 2 é 1000 10 20', 'é'],
    [3, 'm 4 /a b', undefined],
    [3, 'm 4 /a b 1000', undefined],
    [3, 'm 4 /a b 1000 10', undefined],
    [3, 'm 4 /a b 1000 10 x', undefined],
    [3, 'm 5 /a b 1000 10 20', undefined],
    [3, 'm 3 /a b 1000 10 20', undefined],
    [3, 'm 0  1000 10 20', undefined],
    [3, 'm x /a 1000 10 20', undefined],
    [1, 'm /ab 1000 10 20', '/ab'],
    [1, 'm /a b 1000 10', '/a'],
    [1, 'm  1000 10 20', undefined],
  ])('version %i: %s', (version, line, name) => {
    const modules = noted(raw(version), [line])
    for (const known of ['/a', '/ab', '/a b', '/a b 1', 'é', ''])
      expect(modules.of(known) !== undefined).toBe(known === name)
  })

  test('take time in proportion to their lines', () => {
    const time = stopwatch()
    noted(
      raw(3),
      Array.from({ length: 20 }, () => `m 1 ${'a '.repeat(32_000)}x`),
    )
    noted(
      raw(1),
      Array.from({ length: 20 }, () => `m a${' a'.repeat(32_000)} x`),
    )
    expect(time()).toBeLessThan(1000)
  })

  test('have a limit of their parts in all', { tags: ['slow'] }, () => {
    const line = (name: string, parts: number) => `m ${name.length.toString(16)} ${name} 1${' 2 3'.repeat(parts)}`
    const names = Array.from({ length: MAX_PARTS / 8192 }, (_, i) => `/lib${1000 + i}`)
    const full = names.map((name) => line(name, 8192))
    const modules = noted(raw(3), [...full, line('/more', 1), line(names[0]!, 8191), line('/one', 1)])
    expect(modules.of(names.at(-1)!)).toHaveLength(8192)
    expect(modules.of('/more')).toBeUndefined()
    expect(modules.of('/one')).toHaveLength(1)
  })
})

test.each([
  ['of a recording', RECORDING, (i: number) => `module 0x1000 ab /lib${i}`],
  ['of a raw file of heaptrack', raw(1), (i: number) => `m /lib${i} 1000 10 20`],
])('modules %s have a limit', { tags: ['slow'] }, (_, header, line) => {
  for (const count of [MAX_MODULES - 1, MAX_MODULES, MAX_MODULES + 1]) {
    const modules = noted(
      header,
      Array.from({ length: count }, (__, i) => line(i)),
    )
    const isKnown = (i: number) => (modules.of(`/lib${i}`) ?? modules.buildId(`/lib${i}`)) !== undefined
    expect([isKnown(0), isKnown(MAX_MODULES - 2), isKnown(count - 1)]).toEqual([true, true, count <= MAX_MODULES])
  }
})

test('build ids and paths that no module has are not kept', () => {
  const [id, path] = ['ab'.repeat(64), `/${'x'.repeat(4095)}`]
  const modules = noted(RECORDING, [`module 0x1 ${id} ${path}`, `module 0x1 ${id}ab /a`, `module 0x1 ${id} ${path}x`])
  expect(modules.buildId(path)).toBe(id)
  expect([modules.buildId('/a'), modules.buildId(`${path}x`)]).toEqual([undefined, undefined])
})
