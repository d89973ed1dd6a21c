import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import type { Profile } from '../../lib/transforms/profile/profile.js'
import { shell } from '../support/commands.js'
import { hostileEvents, profileOf, written } from './support.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'

/** A file by the schema that the viewer's package ships. */
interface File {
  $schema: string
  name: string
  exporter: string
  activeProfileIndex: number
  shared: { frames: { name: string; file?: string; line?: number }[] }
  profiles: {
    type: string
    name: string
    unit: string
    startValue: number
    endValue: number
    samples: number[][]
    weights: number[]
  }[]
}

/** Reads a file and checks what the schema and the viewer ask for. */
function parse(bytes: Uint8Array): File {
  const file = JSON.parse(Buffer.from(bytes).toString()) as File
  expect(Object.keys(file)).toEqual(['$schema', 'exporter', 'name', 'activeProfileIndex', 'shared', 'profiles'])
  expect(file.$schema).toBe('https://www.speedscope.app/file-format-schema.json')
  expect(file.profiles[file.activeProfileIndex]).toBeDefined()
  for (const frame of file.shared.frames) {
    expect(typeof frame.name).toBe('string')
    expect(Object.keys(frame).filter((key) => !['name', 'file', 'line', 'col'].includes(key))).toEqual([])
  }
  for (const { type, unit, startValue, endValue, samples, weights } of file.profiles) {
    expect(type).toBe('sampled')
    expect(['bytes', 'none']).toContain(unit)
    expect(samples).toHaveLength(weights.length)
    expect(endValue).toBe(startValue + weights.reduce((sum, weight) => sum + weight, 0))
    expect(weights.every((weight) => weight > 0)).toBe(true)
    expect(samples.flat().every((frame) => file.shared.frames[frame] !== undefined)).toBe(true)
  }
  return file
}

describe('speedscope', () => {
  test('has a profile for each figure, with the sums of hf-stats --json', { tags: ['slow'] }, async () => {
    const statistics = JSON.parse((await shell(`hf-stats --json ${TRACE}`)).stdout.toString()) as Profile['statistics']
    const run = await shell(`hf-profile --to speedscope --value live-bytes ${TRACE}`)
    const { profiles, name, activeProfileIndex } = parse(run.stdout)
    expect(name).toBe('small64.mtrc.gz')
    expect(Object.fromEntries(profiles.map(({ name: title, endValue }) => [title, endValue]))).toEqual({
      'allocated bytes': statistics.allocated.bytes,
      allocations: statistics.allocated.blocks,
      'live bytes at the peak': statistics.peakBytes.bytes,
      'live blocks at the peak': statistics.peakBytes.blocks,
      'live bytes': statistics.leaked.bytes,
      'live blocks': statistics.leaked.blocks,
      'bytes of temporary allocations': statistics.temporary.heaptrack.bytes,
      'temporary allocations': statistics.temporary.heaptrack.blocks,
    })
    expect(profiles[activeProfileIndex]?.name).toBe('live bytes')
  })

  test('has stacks with the outermost frame first', async () => {
    const events: TraceEvent[] = [{ kind: 'alloc', address: 16n, size: 5n, stack: ['malloc', 'parse (p.c:3)', 'main'] }]
    for (const lines of [true, false]) {
      const { shared, profiles } = parse(await written('speedscope', profileOf(events), { lines }))
      expect(profiles[0]?.samples.map((stack) => stack.map((frame) => shared.frames[frame]))).toEqual([
        [{ name: 'main' }, { name: 'parse', file: 'p.c', ...(lines && { line: 3 }) }, { name: 'malloc' }],
      ])
    }
  })

  test('takes any names, and nothing', async () => {
    parse(await written('speedscope', profileOf(hostileEvents(), { threadRoot: true })))
    expect(parse(await written('speedscope', profileOf([]))).profiles).toHaveLength(1)
  })

  test('says how many stacks of very many are only a sum', { tags: ['slow'] }, async () => {
    const events = Array.from({ length: 25_000 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      address: BigInt(i + 1),
      size: BigInt(i + 1),
      function: `f${i}`,
    }))
    const { profiles, shared } = parse(await written('speedscope', profileOf(events)))
    const [allocated] = profiles
    expect(allocated?.name).toBe('allocated bytes (of 5000 stacks only the sum)')
    expect(allocated?.samples).toHaveLength(20_001)
    expect(shared.frames[allocated?.samples.at(-1)?.[0] as number]).toEqual({ name: '[smaller stacks]' })
    expect(allocated?.weights.at(-1)).toBe((5000 * 5001) / 2)
    expect(allocated?.endValue).toBe((25_000 * 25_001) / 2)
  })
})
