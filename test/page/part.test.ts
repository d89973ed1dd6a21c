// @module-tag slow
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commandOf } from '../../page/filter/command.js'
import { patternOf } from '../../page/filter/fields.js'
import { EventNumberList, numberOf } from '../../page/worker/event-numbers.js'
import type { Answer, Criterion, Taken } from '../../page/worker/messages.js'
import { takeReport } from '../../page/worker/serve.js'
import { readTrace } from '../../browser/read-trace.js'
import { batchesOf, type EventBatch } from '../../lib/event/batch.js'
import { TraceCopy } from '../../lib/exports/report/trace-copy.js'
import { filterFile } from '../../lib/streams/filter-file.js'
import { openTrace } from '../../lib/streams/io/open-trace.js'
import type { FilterOptions } from '../../lib/transforms/filter.js'
import { ReportCollector } from '../../lib/transforms/report/collector.js'
import type { ReportData } from '../../lib/transforms/report/result.js'

const SMALL = 'test/fixtures/mtrc/small64.mtrc.gz'
const STACKS = 'test/fixtures/heaptrack/cxx.heaptrack.gz'
const THREADS = 'test/fixtures/replay/mstress-head.txt.gz'

/** The report that the worker of a page makes of the copy of a trace. */
async function inPage(path: string, criteria: readonly Criterion[], answers: Answer[] = []): Promise<Taken> {
  const copy = new TraceCopy(1e7)
  for await (const batch of openTrace(path).batches) copy.add(batch)
  return ofBytes(Buffer.concat(copy.finish(true)!), criteria, answers)
}

function ofBytes(bytes: Uint8Array, criteria: readonly Criterion[], answers: Answer[] = []): Promise<Taken> {
  const file = new Blob([bytes as Uint8Array<ArrayBuffer>])
  return takeReport({ file, name: 'trace', generator: 'heapflow', criteria }, readTrace, (one) => answers.push(one))
}

/** The report on what is left of a file by a filter. */
async function filtered(
  path: string,
  options: FilterOptions,
  change = (batch: EventBatch) => batch,
): Promise<ReportData> {
  const collector = new ReportCollector()
  for await (const batch of filterFile(path, options) as AsyncIterable<EventBatch>) collector.add(change(batch))
  return collector.finish().data()
}

describe('the report of a part of a trace', () => {
  test.each<[string, readonly Criterion[], FilterOptions]>([
    [SMALL, [], {}],
    [SMALL, [['size', '64..200']], { size: { from: 64n, to: 200n } }],
    [
      SMALL,
      [['size', '..16'], ['size', '1K..'], ['lifetimes']],
      { size: [{ to: 16n }, { from: 1024n }], lifetimes: true },
    ],
    [
      SMALL,
      [
        ['kind', 'alloc'],
        ['kind', 'realloc'],
      ],
      { kind: ['alloc', 'realloc'] },
    ],
    [SMALL, [['events', '100..1500'], ['lifetimes']], { events: { from: 100n, to: 1500n }, lifetimes: true }],
    [SMALL, [['events', '100..1500'], ['invert']], { events: { from: 100n, to: 1500n }, invert: true }],
    [SMALL, [['function', '/^e/'], ['lifetimes']], { function: /^e/, lifetimes: true }],
    [SMALL, [['leaked'], ['lifetimes']], { leaked: true, lifetimes: true }],
    [SMALL, [['temporary'], ['lifetimes']], { temporary: true, lifetimes: true }],
    [SMALL, [['live-at', 'peak'], ['lifetimes']], { liveAt: 'peak', lifetimes: true }],
    [SMALL, [['live-at', '2000']], { liveAt: { event: 2000 } }],
    [STACKS, [['stack', 'main'], ['lifetimes']], { stack: 'main', lifetimes: true }],
    [THREADS, [['thread', '9477'], ['lifetimes']], { thread: 9477, lifetimes: true }],
    [STACKS, [['time', '1..'], ['lifetimes']], { time: { from: 1n }, lifetimes: true }],
  ])('%s, %j: that of hf-filter', async (path, criteria, options) => {
    const { data } = await inPage(path, criteria)
    const expected = await filtered(path, options)
    expect(data).toEqual({ ...expected, notes: data.notes })
    expect(data.notes).toEqual(expect.arrayContaining(expected.notes))
    if (criteria.length > 0) expect(data.summary.events).toBeLessThan((await inPage(path, [])).data.summary.events)
  })

  test('stacks have no more frames than asked for, and sites become fewer', async () => {
    const whole = await inPage(STACKS, [])
    const { data } = await inPage(STACKS, [['depth', '1']])
    expect(Math.max(...whole.data.sites.stack.map((stack) => stack.length))).toBeGreaterThan(1)
    expect(Math.max(...data.sites.stack.map((stack) => stack.length))).toBe(1)
    expect(data.summary.siteCount).toBeLessThan(whole.data.summary.siteCount)
    expect({ ...data.summary, siteCount: 0 }).toEqual({ ...whole.data.summary, siteCount: 0 })
    const names = ({ sites, frames }: ReportData) =>
      [
        ...new Set(
          sites.stack.map((stack) =>
            stack
              .slice(0, 1)
              .map((frame) => frames[frame]!.name)
              .join('\n'),
          ),
        ),
      ].toSorted()
    expect(names(data)).toEqual(names(whole.data))
  })

  test('the numbers of its events are those in the trace', async () => {
    const { data, numbers } = await inPage(SMALL, [['size', '1000..']])
    const expected: number[] = []
    let n = 0
    for await (const batch of openTrace(SMALL).batches)
      for (const event of batch) {
        n++
        if ((event.size ?? 0n) >= 1000n) expected.push(n)
      }
    expect(data.summary.events).toBe(expected.length)
    expect(expected.map((_, i) => numberOf(numbers, i + 1))).toEqual(expected)
  })

  test.each([THREADS, SMALL, STACKS])('%s: a part of the run keeps the live set when it begins', async (path) => {
    const { data: whole } = await inPage(path, [])
    const { events } = whole.summary
    for (const [from, to] of [
      [Math.floor(events / 3), Math.floor(events / 2)],
      [1, Math.floor(events / 4)],
      [Math.floor(events / 2), events],
    ] as const) {
      const { data, numbers } = await inPage(path, [['part', `${from}..${to}`]])
      const live = async (event: number) =>
        (await filtered(path, { liveAt: { event }, lifetimes: false })).summary.leaked
      expect(data.summary.leaked, `live at ${to}`).toEqual(await live(to))
      const inside = await filtered(path, { events: { from: BigInt(from), to: BigInt(to) } })
      const older = from === 1 ? { blocks: 0, bytes: 0 } : await live(from - 1)
      expect(data.summary.events).toBeGreaterThanOrEqual(inside.summary.events + older.blocks)
      expect(data.summary.filtered).toBe(false)
      expect(numberOf(numbers, data.summary.events)).toBe(to)
      // The peak of the part is that of the whole run if it is in the part.
      if (whole.summary.peakBytes.event >= from && whole.summary.peakBytes.event <= to)
        expect(data.summary.peakBytes.bytes).toEqual(whole.summary.peakBytes.bytes)
    }
  })

  test('a part without events says so', async () => {
    const { data } = await inPage(SMALL, [['function', 'none'], ['lifetimes']])
    expect(data.summary.events).toBe(0)
    expect(data.notes.at(-1)).toBe('No event meets the criteria.')
  })

  test('a truncated copy is a truncated trace', async () => {
    const copy = new TraceCopy(1e7)
    for await (const batch of openTrace(SMALL).batches) copy.add(batch)
    const { data } = await ofBytes(Buffer.concat(copy.finish(false)!), [])
    expect(data.summary).toMatchObject({ complete: false, events: 2798 })
    expect(data.notes.join('\n')).toMatch(/^The trace is truncated.*\n.*compact: .*truncated/)
  })

  test('is compared with a truncated trace as far as that was read, which is noted', async () => {
    const copy = new TraceCopy(1e7)
    for await (const batch of openTrace(SMALL).batches) copy.add(batch)
    const bytes = Buffer.concat(copy.finish(false)!)
    const ofOlder = (older: Uint8Array) =>
      takeReport(
        {
          file: new Blob([bytes]),
          name: 'new',
          generator: 'heapflow',
          criteria: [],
          old: { file: new Blob([older as Uint8Array<ArrayBuffer>]), name: 'old.hfc' },
        },
        readTrace,
        () => {},
      )
    const { data } = await ofOlder(bytes)
    expect(data.comparison).toBeDefined()
    expect(data.notes.join('\n')).toMatch(/^old\.hfc: compact: .*truncated/m)
    await expect(ofOlder(bytes.subarray(0, 60))).rejects.toThrow(/^old\.hfc: compact: .*truncated/)
  })

  test('of a truncated trace, a part of the run by time has what was read of it', async () => {
    const copy = new TraceCopy(1e7)
    const events = [
      { kind: 'alloc', address: 16n, size: 1n, time: 1n },
      { kind: 'alloc', address: 32n, size: 20n, time: 5n },
      { kind: 'free', address: 16n, time: 7n },
    ] as const
    for (const batch of batchesOf(events)) copy.add(batch)
    const { data, numbers } = await ofBytes(Buffer.concat(copy.finish(false)!), [['part', 'time:8..100']])
    expect(data.summary).toMatchObject({ complete: false, events: 1, leaked: { blocks: 1, bytes: 20 } })
    expect(numberOf(numbers, 1)).toBe(2)
  })

  test.each([true, false])('what the criteria leave out is reported, complete: %j', async (complete) => {
    const copy = new TraceCopy(1e7)
    const events = [
      { kind: 'alloc', address: 16n, size: 1n },
      { kind: 'lost' },
      { kind: 'free', address: 16n },
    ] as const
    for (const batch of batchesOf(events)) copy.add(batch)
    const { data } = await ofBytes(Buffer.concat(copy.finish(complete)!), [['kind', 'alloc']])
    expect(data.summary).toMatchObject({ complete, events: 1 })
    expect(data.notes).toContain('the recorder lost events in 1 place, which kind left out: kind lost keeps them')
  })

  test('a last line without a line feed is a note, which names the command that takes it', async () => {
    const lines = '1: malloc 0x10 5\n1: malloc 0x20 5'
    const { data } = await ofBytes(Buffer.from(lines), [])
    expect(data.summary.events).toBe(1)
    expect(data.notes.join('\n')).toContain(
      'the last line does not end with a line feed; hf-convert --last-line takes it',
    )
  })

  test('damage is an error, or a note if something could be read', async () => {
    const copy = new TraceCopy(1e7)
    for await (const batch of openTrace(SMALL).batches) copy.add(batch)
    const bytes = Buffer.concat(copy.finish(true)!)
    await expect(ofBytes(bytes.subarray(0, 60), [])).rejects.toThrow(/^compact: .*truncated/)
    const damaged = bytes.slice()
    damaged[bytes.length >> 1]! ^= 1
    await expect(ofBytes(damaged, [['leaked']])).rejects.toThrow(/^compact: /)
  })

  test.each<[Criterion, RegExp]>([
    [['size', '5..1'], /--size: an empty range/],
    [['size', 'large'], /--size: not a range/],
    [['thread', 'x'], /--thread needs an integer/],
    [['function', '/(/'], /--function: Invalid regular expression/],
    [['kind', 'nothing'], /nothing/],
    [['live-at', 'noon'], /--live-at: not a moment/],
    [['live-at', '999999'], /there is no event 999999/],
    [['depth', '0'], /stack depth must be a number from 1/],
  ])('%j cannot be', async (criterion, message) => {
    await expect(inPage(SMALL, [criterion])).rejects.toThrow(message)
  })

  test('reports how far it is', async () => {
    const answers: Answer[] = []
    await inPage(SMALL, [['size', '64..']], answers)
    expect(answers[0]).toMatchObject({ kind: 'progress', format: 'heapflow compact' })
  })
})

describe('event numbers', () => {
  test('are exact in up to 65,536 runs, and at least so much in more', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(300_000), fc.integer({ min: 1, max: 7 })), { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(), { minLength: 5, maxLength: 5 }),
        (batches, chosen) => {
          const list = new EventNumberList()
          const all: number[] = []
          let before = 0
          for (const [count, every] of batches) {
            const rows = Int32Array.from({ length: Math.ceil(count / every) }, (_, i) => i * every)
            list.add(before, rows)
            for (const row of rows) all.push(before + row + 1)
            before += count
          }
          const { result } = list
          expect(result.part.length).toBeLessThanOrEqual(65_536)
          const runs = all.filter((number, i) => i === 0 || number !== all[i - 1]! + 1).length
          const step = 2 ** Math.max(0, Math.ceil(Math.log2(runs / 65_536)))
          for (const n of chosen) {
            if (all.length === 0) break
            const at = n % all.length
            const missing = all[at]! - numberOf(result, at + 1)
            expect(missing).toBeGreaterThanOrEqual(0)
            // At most 6 events lie between two runs.
            expect(missing).toBeLessThanOrEqual(6 * (step - 1))
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  test('of a part of the run are exact, however many', () => {
    const list = new EventNumberList()
    list.add(0, [3, 7])
    for (let before = 100; before < 1_000_000; before += 4096)
      list.add(
        before,
        Array.from({ length: 4096 }, (_, i) => i),
      )
    expect([1, 2, 3, 900_000].map((event) => numberOf(list.result, event))).toEqual([4, 8, 101, 900_098])
  })

  test('of nothing are of the whole', () => {
    expect(numberOf(new EventNumberList().result, 1)).toBe(1)
  })
})

describe('commands', () => {
  test.each<[readonly Criterion[], string, string]>([
    [[['size', '4K..'], ['lifetimes']], 'a.mtrc', 'hf-filter --size 4K.. --lifetimes a.mtrc | hf-stats'],
    [[['thread', '-5']], '-x', 'hf-filter --thread=-5 ./-x | hf-stats'],
    [[['function', "it's $(x)"]], 'a b', `hf-filter --function 'it'\\''s $(x)' 'a b' | hf-stats`],
    [[['depth', '3']], 'a', "hf-map -e 'event.stack &&= event.stack.slice(0, 3); return true' a | hf-stats"],
    [
      [['leaked'], ['depth', '3']],
      'a',
      "hf-filter --leaked a | hf-map -e 'event.stack &&= event.stack.slice(0, 3); return true' | hf-stats",
    ],
  ])('%j of %s', (criteria, name, command) => {
    expect(commandOf(criteria, { name, isFile: true })).toBe(command)
  })

  test.each<[readonly Criterion[], string]>([
    [[['stack', 'main'], ['lifetimes']], 'hf-symbolize a | hf-filter --stack main --lifetimes | hf-stats'],
    [[['depth', '1']], "hf-symbolize a | hf-map -e 'event.stack &&= event.stack.slice(0, 1); return true' | hf-stats"],
    [[['size', '4K..']], 'hf-filter --size 4K.. a | hf-stats'],
  ])('%j of frames that got names', (criteria, command) => {
    expect(commandOf(criteria, { name: 'a', isFile: true, isSymbolized: true })).toBe(command)
  })

  test('there are none if no file has just this trace', () => {
    expect(commandOf([['size', '4K..']], { name: 'standard input', isFile: false })).toBe('')
  })

  test('a name that looks like an expression is matched as a name', () => {
    expect(patternOf('main')).toBe('main')
    expect(patternOf('/usr/lib/')).toBe('/^\\/usr\\/lib\\/$/')
    const name = '/a.b(c)/'
    expect(new RegExp(patternOf(name).slice(1, -1)).test(name)).toBe(true)
    expect(new RegExp(patternOf(name).slice(1, -1)).test('/aXb(c)/')).toBe(false)
  })
})

test('a page without the trace has none of the code that reads it', () => {
  const plain = readFileSync('dist/page/report.html', 'utf8')
  expect(plain).not.toMatch(/id="worker"|wasm-unsafe-eval|hf-filter|class="filter"/)
  expect(plain.length).toBeLessThan(250_000)
})
