import { describe, expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { LiveFiguresReport, type Interval, type LiveFigures } from '../../../lib/cli/report/live-figures.js'
import { shell } from '../../support/commands.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'

/** The figures that are shown of some events, and the clock at each batch. */
function shown(events: readonly TraceEvent[], every: Interval, times: readonly number[] = []): LiveFigures[] {
  const figures: LiveFigures[] = []
  const clock = [...times]
  const report = new LiveFiguresReport({
    every,
    print: (one) => {
      figures.push(one)
      return '\n'
    },
    now: () => clock.shift() ?? 0,
  })
  const drain = () => {
    while (report.next() !== null);
  }
  for (const batch of batchesOf(events)) {
    report.feed(batch)
    drain()
  }
  report.end()
  drain()
  return figures
}

const events = Array.from({ length: 10_000 }, (_, i): TraceEvent => ({
  kind: 'alloc',
  address: BigInt(16 * (i + 1)),
  size: 2n,
}))

describe('LiveFiguresReport', () => {
  test('shows figures after exactly so many events, and at the end', () => {
    const figures = shown(events, { events: 3000 })
    expect(figures.map((one) => [one.events, one.live.blocks, one.complete])).toEqual([
      [3000, 3000, undefined],
      [6000, 6000, undefined],
      [9000, 9000, undefined],
      [10_000, 10_000, true],
    ])
    expect(shown(events.slice(0, 6), { events: 1 })).toHaveLength(7)
  })

  test('shows figures when the time has come', () => {
    // The start; then each of three batches, at two of which figures are due; each line asks once more.
    const figures = shown(events, { milliseconds: 100 }, [0, 50, 120, 121, 230, 231, 240])
    expect(figures.map((one) => [one.events, one.seconds])).toEqual([
      [8192, 0.121],
      [10_000, 0.231],
      [10_000, 0.24],
    ])
  })
})

describe('hf-stats --every', () => {
  test('writes lines of JSON, the last one with the figures of the report', { tags: ['slow'] }, async () => {
    const { stdout, stderr, code } = await shell(`hf-stats --every 1k --json ${TRACE}`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LiveFigures)
    expect(lines.map((line) => line.events)).toEqual([1000, 2000, 2798])
    const report = JSON.parse((await shell(`hf-stats --json ${TRACE}`)).stdout.toString()) as Record<string, unknown>
    expect(lines.at(-1)).toMatchObject({
      allocated: report['allocated'],
      freed: report['freed'],
      live: report['leaked'],
      complete: true,
    })
  })

  test('writes lines for people', async () => {
    const { stdout } = await shell(`hf-stats --every 1s ${TRACE}`)
    expect(stdout.toString()).toMatch(
      /^2,798 events: live 19 blocks, 6,527 bytes; peak 3,000,000 bytes \(2\.9 MiB\); allocated 1,558 blocks, .*events\/s\n$/,
    )
  })

  test('says that the input was truncated', async () => {
    const { stdout, code } = await shell(
      `mtrc-decode < test/fixtures/mtrc/cxx64.mtrc | head -n 20 | hf-stats --every 5 --json`,
    )
    expect(code).toBe(1)
    const lines = stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LiveFigures)
    expect(lines.map((line) => line.complete)).toEqual([undefined, undefined, undefined, false])
  })

  test.each([
    ['--every 0', /--every needs a time such as 1s, 500ms or 2min, or events such as 1M or 1000, not "0"/],
    ['--every 1m', /--every needs a time/],
    ['--every 1s --tsv', /--tsv and --every cannot be combined/],
    ['--every 1s --top 5', /--top and --every cannot be combined/],
  ])('%s is a mistake', async (flags, message) => {
    const { code, stderr } = await shell(`hf-stats ${flags}`)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})
