import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { unknownFigures } from '../../../lib/cli/report/identity.js'
import { jsonPieces } from '../../../lib/cli/report/json.js'
import type { EventBatch, TraceEvent } from '../../../lib/event/batch.js'
import { Kind } from '../../../lib/event/fields.js'
import type { StackTree } from '../../../lib/event/stack-tree.js'
import { heaptrack } from '../../../lib/formats/heaptrack/index.js'
import { recorder } from '../../../lib/formats/recorder/index.js'
import { SiteKeys } from '../../../lib/transforms/statistics/site-keys.js'
import { ReportCollector } from '../../../lib/transforms/report/collector.js'
import { StatisticsCollector, type CollectorOptions } from '../../../lib/transforms/statistics/collector.js'
import { recordChoices, recordingOf } from '../../formats/recorder/random.js'
import { decodeAll } from '../../support/drive.js'
import { runs } from '../../support/runs.js'
import { HEADER, inBatches } from '../events.js'

const hex = (n: number | bigint) => n.toString(16)
/** Sizes below and from 4096 on have other tables; the largest ones need sums of more than 64 bits. */
const SIZES = [0n, 1n, 16n, 4095n, 4096n, 100_000n, 2n ** 32n, 2n ** 64n - 1n]

/** What a line is to be, and what it refers to. */
type Choice = readonly [what: number, first: number, second: number]
const choices = fc.array(fc.tuple(fc.nat(99), fc.nat(1000), fc.nat(1000)), { maxLength: 300 })
/** An interpreted file or, if not, a trace that says which block is freed. */
const traces = fc.array(fc.tuple(fc.constantFrom(true, true, false), choices), { minLength: 1, maxLength: 3 })

/** Definitions come in the order of their numbers, but not always just before their first use. */
function fileOf(all: readonly Choice[]): string {
  const lines = ['v 10400 3', 'X ./a', 's 1 f', 's 1 g', 'i 10 0 1', 'i 20 0 2', 't 1 0']
  let [nodes, infos, time] = [1, 0, 0]
  for (const [what, first, second] of all) {
    if (what < 5) lines.push(`t ${hex(1 + (first % 2))} ${hex(second % ++nodes)}`)
    else if (what < 20 || infos === 0) {
      lines.push(`a ${hex(SIZES[first % SIZES.length])} ${hex(second % (nodes + 1))}`)
      infos++
    } else if (what < 60) lines.push(`+ ${hex(first % infos)}`)
    else if (what < 94) lines.push(`- ${hex(first % infos)}`)
    else if (what < 97) lines.push(`c ${hex((time += 1 + (first % 30)))}`)
    else lines.push('R 5')
  }
  return `${lines.join('\n')}\nR 1\n`
}

/** Events with addresses, few enough that blocks are freed and overlap. */
function eventsOf(all: readonly Choice[]): TraceEvent[] {
  return all.map(([what, first, second]) =>
    what < 60
      ? { kind: 'alloc', address: BigInt(1 + (first % 9)), size: SIZES[second % SIZES.length], function: 'f' }
      : { kind: 'free', address: BigInt(1 + (first % 9)) },
  )
}

function decode(trace: string | Uint8Array, hasInfos: boolean, pieces: number): EventBatch[] {
  const decoder = (typeof trace === 'string' ? heaptrack : recorder).decoder()
  if (hasInfos) decoder.giveInfos?.()
  const { batches, error } = decodeAll(decoder, Buffer.from(trace), pieces)
  if (error !== undefined) throw error
  decoder.dispose?.()
  return batches
}

/** What is known of some traces. */
function known(batches: readonly EventBatch[], options: CollectorOptions = {}, most = Infinity): unknown {
  const collector = new StatisticsCollector(options)
  for (const batch of batches)
    for (let from = 0; from < Math.max(1, batch.count); from += most)
      collector.add(batch, from, Math.min(batch.count, from + most))
  const live = collector.now()
  const { sites, ...result } = collector.finish()
  const lone = collector.sites.result(false, true, new Map())
  return [live, [...jsonPieces({ ...result, sites, lone }, unknownFigures(result.identified))].join('')]
}

/** What a report shows of some traces. */
function reported(batches: readonly EventBatch[]): unknown {
  const collector = new ReportCollector()
  for (const batch of batches) collector.add(batch)
  const { summary, tree, sites, generations, churn, ...data } = collector.finish().data({ name: 'a' })
  if (summary.identified) return { summary, tree, sites, generations, churn, ...data }
  // What depends on which block is freed is not shown, and not counted where there are infos.
  const { temporary: _t, lifetimes: _l, ...figures } = summary
  const { temporaryBlocks: _b, ...nodes } = tree
  const { temporaryBlocks: _c, temporaryBytes: _d, memrayBlocks: _e, memrayBytes: _f, ...rows } = sites
  const { meanEvents: _g, meanTime: _h, heatCells: _i, ...own } = rows
  const { endBytes: _j, endBlocks: _k, sites: _m, ...slices } = generations
  const { heat: _n, sizes, ...resizes } = churn
  const { temporaryBlocks: _o, ...counts } = sizes
  return { figures, nodes, own, slices, counts, resizes, ...data }
}

describe('events with infos', () => {
  it('have the same report as those with addresses', () => {
    fc.assert(
      fc.property(traces, fc.integer({ min: 1, max: 400 }), (all, pieces) => {
        const batches = (hasInfos: boolean) =>
          all.flatMap(([isFile, one]) =>
            isFile ? decode(fileOf(one), hasInfos, pieces) : inBatches(eventsOf(one), 7, { ...HEADER }),
          )
        expect(reported(batches(true))).toEqual(reported(batches(false)))
      }),
      { numRuns: runs(200) },
    )
  })

  it('have the same report of recordings, whose stacks have each frame once', () => {
    fc.assert(
      fc.property(recordChoices, fc.integer({ min: 1, max: 400 }), (all, pieces) => {
        const bytes = recordingOf(all)
        expect(reported(decode(bytes, true, pieces))).toEqual(reported(decode(bytes, false, 1000)))
      }),
      { numRuns: runs(100) },
    )
  })

  test('have the same report with 100,000 sites, deep stacks and a million live blocks', { tags: ['slow'] }, () => {
    const [sites, depth, live] = [100_000, 10_000, 1_000_000]
    const lines = ['v 10400 3', 'X ./a', 's 1 f', 'i 10 0 1']
    // A stack of 10,000 frames, and others that branch off near its outermost one.
    for (let i = 0; i < sites; i++) lines.push(`t 1 ${hex(i < depth ? i : i % 30)}`)
    for (let i = 0; i < sites; i++) lines.push(`a ${hex(i % 500)} ${hex(i < depth - 5 ? 1 + (i % 30) : i + 1)}`)
    for (let i = 0; i < live + sites; i++) lines.push(`+ ${hex(i % sites)}`)
    for (let i = 0; i < sites; i += 2) lines.push(`- ${hex(i)}`)
    const text = `${lines.join('\n')}\n`
    const [infos, addresses] = [true, false].map((hasInfos) => reported(decode(text, hasInfos, 1 << 20)))
    expect(isDeepStrictEqual(infos, addresses)).toBe(true)
    expect(infos).toMatchObject({ figures: { leaked: { blocks: live + sites / 2 } } })
  })

  test('more than 1,000 allocations of zero bytes, of many infos, are counted', () => {
    const lines = ['v 10400 3', 'X ./a', 's 1 f', 'i 10 0 1', 't 1 0']
    for (let i = 0; i < 1500; i++) lines.push(`a ${i % 3 === 0 ? 0 : 16} ${i % 2}`, `+ ${hex(i)}`)
    for (let i = 0; i < 1500; i++) lines.push(`+ ${hex(i)}`, `- ${hex(i)}`)
    const text = `${lines.join('\n')}\n`
    const [infos, addresses] = [true, false].map((hasInfos) => reported(decode(text, hasInfos, 100)))
    expect(infos).toEqual(addresses)
    expect(infos).toMatchObject({ problems: { counts: { zeroSize: 1000 } } })
  })

  it.each<CollectorOptions>([{}, { sites: 2 }])('have the same figures as those with addresses: %j', (options) => {
    fc.assert(
      fc.property(traces, fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 50 }), (all, pieces, most) => {
        // If all traces were identified, there would be nothing that is unknown.
        const parts = all.map(([isFile, one], i) => [isFile || i === 0, one] as const)
        const batches = (hasInfos: boolean) =>
          parts.flatMap(([isFile, one]) =>
            isFile ? decode(fileOf(one), hasInfos, pieces) : inBatches(eventsOf(one), 7, { ...HEADER }),
          )
        expect(known(batches(true), options, most)).toEqual(known(batches(false), options))
      }),
      { numRuns: runs(1000) },
    )
  })

  it('have rows of sites and threads that belong together', () => {
    fc.assert(
      fc.property(choices, (all) => {
        const [infos, addresses] = [true, false].map((hasInfos) => {
          const collector = new StatisticsCollector({ byThread: true })
          for (const batch of decode(fileOf(all), hasInfos, 1000)) collector.add(batch)
          collector.sites.keep()
          collector.finish()
          const { sites } = collector
          return Array.from({ length: sites.size }, (_, row) => {
            const { lived: _lived, temporary: _temporary, ...figures } = sites.figures(row, false, false)
            return { ...figures, kept: sites.keptAt(row), owners: sites.owners(row) }
          })
        })
        expect(infos).toEqual(addresses)
      }),
      { numRuns: runs(200) },
    )
  })

  test('more sizes than have a row of their own, and more blocks than a batch has', { tags: ['slow'] }, () => {
    const n = 70_000
    const lines = ['v 10400 3', 'X ./a']
    for (let i = 0; i < n; i++)
      lines.push(`a ${hex(5000 + 16 * i)} 0`, `+ ${hex(i)}`, ...(i % 3 === 0 ? [`- ${hex(i)}`] : []))
    for (let i = 0; i < n; i += 2) lines.push(`+ ${hex(i)}`, `+ ${hex(i)}`, `- ${hex(i)}`)
    const text = `${lines.join('\n')}\n`
    expect(known(decode(text, true, 1 << 16))).toEqual(known(decode(text, false, 1 << 16)))
  })
})

/** The frames of a stack that may leave out outermost ones, from those of nodes before. */
function wholeStack({ strings }: EventBatch, list: number, stacks: Map<number, readonly string[]>): readonly string[] {
  const { parents, depths } = strings.tree as StackTree
  const node = strings.nodeOf(list)
  const known = stacks.get(node)
  if (known !== undefined) return known
  const frames = strings.list(list).map((id) => strings.text(id))
  let outer = node
  while (outer !== 0 && depths[outer] > depths[node] - frames.length) outer = parents[outer]
  const whole = [...frames, ...(stacks.get(outer) ?? [])]
  expect(whole).toHaveLength(depths[node])
  for (let at = node; at !== outer; at = parents[at]) {
    expect(stacks.has(at)).toBe(false)
    stacks.set(at, whole.slice(whole.length - depths[at]))
  }
  return whole
}

describe('a decoder that gives infos', () => {
  it('gives the same events otherwise: only the first allocation with an info has fields', () => {
    fc.assert(
      fc.property(choices, fc.integer({ min: 1, max: 400 }), (all, pieces) => {
        const text = fileOf(all)
        const plain = decode(text, false, pieces).flatMap((batch) => [...batch])
        const live = new Map<number, bigint[]>()
        const fields = new Map<number, object>()
        const stacks = new Map<number, readonly string[]>()
        let i = 0
        let listed = 0
        for (const batch of decode(text, true, pieces)) {
          listed += batch.strings.flat().listed.length
          for (const [row, event] of [...batch].entries()) {
            const { address, ...expected } = plain[i++] as TraceEvent & { address?: bigint }
            const info = batch.infos?.numbers[row] ?? 0
            expect(info).toBeLessThanOrEqual(batch.infos?.most ?? 0)
            expect(info > 0).toBe(address !== undefined)
            const stack = live.get(info) ?? []
            if (event.kind === 'alloc') {
              const { kind, time, ...own } = event
              if (own.stack !== undefined) {
                Object.assign(own, { stack: wholeStack(batch, batch.stack[row], stacks) })
              }
              if (fields.has(info)) expect(own).toEqual({})
              else fields.set(info, own)
              expect({ kind, time, ...fields.get(info) }).toEqual(expected)
              live.set(info, [...stack, address as bigint])
            } else {
              expect(event).toEqual(expected)
              if (event.kind === 'free' && info > 0) expect(stack.pop()).toBe(address)
            }
          }
        }
        expect(i).toBe(plain.length)
        // Each node has one frame here, which comes once.
        expect(listed).toBe(stacks.size)
      }),
      { numRuns: runs(500) },
    )
  })

  it('reports the same faults and warnings', () => {
    const lines = [
      'v 10400 3',
      'X ./a',
      's 1 f',
      'i 10 0 1',
      't 1 0',
      'a 10 1',
      '+ 0',
      '- 0',
      '- 0',
      '+ 0',
      '+ 1',
      '+ 0',
    ]
    const outcome = (hasInfos: boolean, text: string) => {
      const decoder = heaptrack.decoder()
      if (hasInfos) decoder.giveInfos?.()
      const { events, error } = decodeAll(decoder, Buffer.from(text))
      return { count: events.length, error, warnings: decoder.warnings }
    }
    for (const text of [lines.join('\n'), lines.slice(0, 10).join('\n'), `${lines.slice(0, 10).join('\n')}\n`]) {
      expect(outcome(true, text)).toEqual(outcome(false, text))
    }
    expect(outcome(true, `${lines.slice(0, 10).join('\n')}\n`).warnings?.length).toBe(1)
  })

  it('gives addresses of raw files, and the frames of a stack once', () => {
    const lines = ['v 10400 3', 'x 4 /b/c', 'X ./a', 'm 1 -', 't 10 0', 't 20 1', '+ 10 2 1000', '+ 8 1 2000', '- 1000']
    const batches = decode(`${[...lines, '+ 10 2 1000', '+ 9 1 3000'].join('\n')}\n`, true, 1)
    expect(batches.map(({ infos }) => infos)).toEqual(batches.map(() => undefined))
    const stacks = batches.flatMap((batch) =>
      [...batch].flatMap((event) => (event.kind === 'alloc' ? [event.stack] : [])),
    )
    expect(stacks).toEqual([['[0x20]', '[0x10]'], [], [], []])
  })

  it('has the frames of stacks, whether or not there is room for their names', () => {
    const lines = ['v 10400 3', 'x 4 /b/c', 'X ./a', 'm 1 -', 't 10 0', 't 20 1', '+ 10 2 1000']
    const [batch] = decode(`${lines.join('\n')}\n`, false, 1000).filter(({ count }) => count > 0) as [EventBatch]
    const row = batch.kind.indexOf(Kind.alloc)
    for (const bytes of [100, 1]) {
      const keys = new SiteKeys({ bytes })
      keys.begin(batch)
      expect(keys.framesOf(batch.stack[row]!, 8)).toEqual(['[0x20]', '[0x10]'])
      expect(keys.framesOf(batch.stack[row]!, 1)).toEqual(['[0x20]'])
    }
  })

  it('has the same sites of raw files, wherever batches end', () => {
    const blocks = fc.array(fc.tuple(fc.nat(30), fc.nat(20), fc.nat(9)), { maxLength: 200 })
    fc.assert(
      fc.property(blocks, fc.integer({ min: 1, max: 400 }), (all, pieces) => {
        const lines = ['v 10400 3', 'x 4 /b/c', 'X ./a', 'm 1 -', 't 10 0']
        let nodes = 1
        for (const [what, first, second] of all) {
          if (what < 6) lines.push(`t ${hex(16 * (1 + second))} ${hex(first % ++nodes)}`)
          else if (what < 20) lines.push(`+ ${hex(second)} ${hex(first % (nodes + 1))} ${hex(4096 + second)}`)
          else lines.push(`- ${hex(4096 + second)}`)
        }
        const text = `${[...lines, '+ 1 0 1'].join('\n')}\n`
        expect(known(decode(text, true, pieces))).toEqual(known(decode(text, false, 1000)))
      }),
      { numRuns: runs(500) },
    )
  })

  it('has the same sites of recordings, wherever batches end, and each frame once', () => {
    fc.assert(
      fc.property(recordChoices, fc.integer({ min: 1, max: 400 }), (all, pieces) => {
        const bytes = recordingOf(all)
        const brief = decode(bytes, true, pieces)
        const plain = decode(bytes, false, 1000)
        expect(known(brief)).toEqual(known(plain))
        const stacks = new Map<number, readonly string[]>()
        const stacksOf = (batches: readonly EventBatch[], stackOf: (batch: EventBatch, list: number) => unknown) =>
          batches.flatMap((batch) =>
            [...batch].flatMap(({ stack }, i) => (stack === undefined ? [] : [stackOf(batch, batch.stack[i])])),
          )
        const texts = ({ strings }: EventBatch, list: number) => strings.list(list).map((id) => strings.text(id))
        expect(stacksOf(brief, (batch, list) => wholeStack(batch, list, stacks))).toEqual(stacksOf(plain, texts))
        const listed = brief.reduce((sum, { strings }) => sum + strings.flat().listed.length, 0)
        expect(listed).toBe(stacks.size)
      }),
      { numRuns: runs(500) },
    )
  })
})
