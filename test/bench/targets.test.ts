// @module-tag slow
import { describe, expect, test } from 'vitest'

/** What the tests use of `bench/`, which is JavaScript. */
interface Timing {
  name: string
  events: number
  bytes: number
  repeat: number
  seconds: number[]
}
interface Ratio {
  of: string
  over: string
  values: number[]
}
interface Bench {
  ratio(timings: Timing[], of: string, over: string | string[]): Ratio | undefined
  measure(tasks: object[], plan: object): Promise<Timing[]>
}
interface Targets {
  targetTable(results: {
    cases: { name: string; input: string; timings: Timing[]; ratios: Ratio[] }[]
    memory: unknown
  }): string
}

const { ratio, measure } = (await import('../../bench/measure.mjs' as string)) as Bench
const { targetTable } = (await import('../../bench/targets.mjs' as string)) as Targets

function timing(name: string, ...seconds: number[]): Timing {
  return { name, events: 4e6, bytes: 1, repeat: 1, seconds }
}

/** The cells of the rows below a table's head. */
function rows(table: string): string[][] {
  return table
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

describe('ratios', () => {
  const timings = [timing('a', 2, 4), timing('b', 1, 1), timing('c', 3, 7)]

  test('come from the same round', () => {
    expect(ratio(timings, 'a', 'b')).toEqual({ of: 'a', over: 'b', values: [0.5, 0.25] })
  })

  test('add the times of several yardsticks', () => {
    expect(ratio(timings, 'a', ['b', 'c'])).toEqual({ of: 'a', over: 'b and c', values: [2, 2] })
  })

  test('are left out where a task is missing', () => {
    expect(ratio(timings, 'a', 'd')).toBeUndefined()
    expect(ratio(timings, 'a', ['b', 'd'])).toBeUndefined()
  })

  test('take the seconds of a task that times itself', async () => {
    let calls = 0
    const own = { name: 'own', events: 1, bytes: 1, run: () => 0, seconds: () => ++calls }
    const [measured] = await measure([own], { rounds: 3, warmups: 2 })
    expect(measured).toEqual({ name: 'own', events: 1, bytes: 1, repeat: 1, seconds: [3, 4, 5] })
  })
})

describe('targets', () => {
  const caseOf = (name: string, timings: Timing[], ratios: Ratio[]) => ({ name, input: 'a trace', timings, ratios })
  const decode = (value: number) =>
    caseOf('mtrc', [], [{ of: 'decode', over: 'decode, tuned C', values: [value, value, 9] }])

  test('say whether the median reaches what is wanted', () => {
    const of = (value: number) => rows(targetTable({ cases: [decode(value)], memory: 'not wanted' }))
    expect(of(0.5)).toEqual([['decode MTRC', 'a trace', '0.5 times as fast as decode, tuned C', '0.50', 'met']])
    expect(of(0.25)[0]?.slice(3)).toEqual(['0.25', 'missed by a factor of 2.00'])
  })

  test('are met by either of two ways', () => {
    const convert = 'hf-convert t.mtrc t.hatf'
    const slow = caseOf(
      'pipeline',
      [timing(convert, 2)],
      [{ of: convert, over: 'MTRC to HATF, tuned C', values: [0.6] }],
    )
    expect(rows(targetTable({ cases: [slow], memory: 'not wanted' })).map((row) => row.slice(3))).toEqual([
      ['2.00', 'the other is met'],
      ['0.60', 'met'],
    ])
  })

  test('can limit a time', () => {
    const startup = (value: number) =>
      caseOf('startup', [], [{ of: 'hf-filter --version', over: 'node -e 0', values: [value] }])
    const of = (value: number) => rows(targetTable({ cases: [startup(value)], memory: 'not wanted' }))[0]?.slice(3)
    expect(of(0.5)).toEqual(['2.00', 'met'])
    expect(of(0.25)).toEqual(['4.00', 'missed by a factor of 2.00'])
  })

  test('name the commands that take too much memory, or whose memory grows', () => {
    const command = (name: string, ...mebibytes: number[]) => ({
      command: name,
      peaks: mebibytes.map((value, i) => ({ events: (i + 1) * 1e6, kibibytes: [value * 1024] })),
    })
    const of = (...memory: object[]) => rows(targetTable({ cases: [], memory }))
    expect(of(command('a', 100, 105), command('b', 90, 91))).toEqual([
      [
        'peak memory of 2 commands',
        '2 million events',
        'at most 123 MiB, and flat within 10 %',
        '100 to 105 MiB (a)',
        'met',
      ],
    ])
    expect(of(command('a', 100, 105), command('b', 60, 120)).map((row) => [row[0], row[4]])).toEqual([
      ['peak memory of b', 'missed by a factor of 1.82'],
    ])
    expect(of(command('c', 150, 156))[0]?.[4]).toBe('missed by a factor of 1.26')
  })

  test('are not invented where nothing was measured', () => {
    expect(targetTable({ cases: [caseOf('mtrc', [], [])], memory: 'not wanted' })).toBe('No targets.')
  })
})
