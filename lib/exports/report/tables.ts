import { plural, rounded } from '../../event/message-text.js'
import { namedFrameText } from '../../names/named-frame.js'
import { OwnFrames } from '../../names/own-frames.js'
import { rowLabels } from '../../names/row-labels.js'
import { callsOf, type ReplayResult } from '../../transforms/drive/comparison.js'
import type { Integer, ReportComparison, ReportData, StackFrames } from '../../transforms/report/result.js'
import { parentsOf, stackOfNode } from '../../transforms/report/compared.js'
import { escaped, shortened } from './html.js'
import { list, ROWS, table, type Cell, type Column } from './html-table.js'

/** A stack is shown by its innermost frames. */
const FRAMES = 4
const MORE = -1

/** The first rows of each view as HTML tables, for readers without JavaScript. */
export function* staticTables(data: ReportData): Generator<string> {
  const { summary, sites, generations, churn, threads, addresses, problems, comparison, replay } = data
  const stacks = stackTexts(data, sites.stack)
  const siteTable = (title: string, by: readonly Integer[], ...columns: Column[]) => {
    const rows = by
      .map((_, row) => row)
      .filter((row) => Number(by[row]) > 0)
      .toSorted((a, b) => Number(by[b]) - Number(by[a]) || a - b)
    const pick = ([name, cells]: Column): Column => [name, rows.map((row) => cells[row])]
    return table(title, [...columns.map(pick), ['site', rows.map((row) => stacks[row])]])
  }
  yield list('Summary', summaryRows(data))
  for (const [title, sentences] of [
    ['Notes', data.notes],
    ['Left out', data.omitted],
  ] as const) {
    if (sentences.length > 0)
      yield `<h2>${title}</h2>\n<ul>${sentences.map((one) => `<li>${escaped(one)}</li>`).join('')}</ul>\n`
  }
  yield timelineTable(data)
  yield siteTable(
    'Sites by bytes allocated',
    sites.allocatedBytes,
    ['bytes', sites.allocatedBytes],
    ['blocks', sites.allocatedBlocks],
    ['live bytes at the peak', sites.peakBytes],
    ['live bytes at the end', sites.endBytes],
  )
  yield siteTable('Live at the end, by site', sites.endBytes, ['bytes', sites.endBytes], ['blocks', sites.endBlocks])
  const slices: Column[] = [
    ['up to event', generations.event],
    ['bytes allocated', generations.allocatedBytes],
    ['of these live', generations.endBytes],
    ['blocks allocated', generations.allocatedBlocks],
    ['of these live', generations.endBlocks],
  ]
  if (summary.identified) yield table('Live at the end, by when it was allocated', slices, generations.event.length)
  yield siteTable(
    'Live at the peak, by site',
    sites.peakBytes,
    ['bytes', sites.peakBytes],
    ['blocks', sites.peakBlocks],
  )
  yield table('Sizes', [
    ['size', churn.sizes.size],
    ['allocations', churn.sizes.count],
    ...(summary.identified ? [['temporary', churn.sizes.temporaryBlocks] satisfies Column] : []),
    ['live at the peak', churn.sizes.peakBlocks],
    ['live at the end', churn.sizes.endBlocks],
  ])
  if (summary.identified)
    yield siteTable(
      'Temporary blocks, by site',
      sites.temporaryBlocks,
      ['temporary', sites.temporaryBlocks],
      ['blocks', sites.allocatedBlocks],
      ['mean time live in events', sites.meanEvents],
    )
  yield siteTable(
    'Reallocs, by site',
    sites.reallocs,
    ['reallocs', sites.reallocs],
    ['grown', sites.grown],
    ['shrunk', sites.shrunk],
    ['moved', sites.moved],
  )
  yield table('Threads', [
    ['thread', threads.name.map((name) => name || '[all others]')],
    ['events', threads.events],
    ['bytes allocated', threads.allocatedBytes],
    ['blocks', threads.allocatedBlocks],
    ['frees', threads.frees],
    ['of blocks of other threads', threads.foreignFrees],
    ['live bytes at the end', threads.endBytes],
  ])
  if (addresses !== undefined) {
    yield table('Pages by live bytes', [
      ['live bytes', addresses.pages.from.map((from, i) => `${from + 1} to ${addresses.pages.to[i]}`)],
      ['pages at the peak', addresses.pages.atPeak],
      ['pages at the end', addresses.pages.atEnd],
    ])
    yield table('Addresses', [
      ['range', addresses.map.ranges.map(({ name }) => name)],
      ['bytes', addresses.map.ranges.map(({ rows }) => (BigInt(rows) * BigInt(addresses.map.rowBytes)).toString())],
    ])
    yield table('Sites that keep nearly empty pages', [
      ['bytes not live', addresses.sparse.bytes],
      ['pages', addresses.sparse.pages.map((pages) => Math.round(10 * pages) / 10)],
      ['site', addresses.sparse.site.map((site) => stacks[site])],
    ])
  }
  yield table('Problems in the trace', [
    ['kind', Object.keys(problems.counts)],
    ['events', Object.values(problems.counts)],
  ])
  yield table('The first problems', [
    ['event', problems.event],
    ['kind', problems.kind],
    ['address', problems.address],
    ['size', problems.size],
    ['site', problemStacks(data)],
  ])
  if (comparison !== undefined) yield comparisonTable(data, comparison)
  if (replay !== undefined) yield allocatorTable(replay)
}

/** The stacks that differ from those of another trace. */
function comparisonTable(data: ReportData, { changes, differing, old }: ReportComparison): string {
  const { before, after } = changes
  const difference = (row: number) => Math.abs(Number(after.endBytes[row]) - Number(before.endBytes[row]))
  const largest = changes.node
    .map((_, row) => row)
    .toSorted((a, b) => difference(b) - difference(a) || a - b)
    .slice(0, ROWS)
  const parents = parentsOf(changes)
  const columns: Column[] = [
    ['allocated before', before.allocatedBytes],
    ['after', after.allocatedBytes],
    ['live at the peak before', before.peakBytes],
    ['after', after.peakBytes],
    ['live at the end before', before.endBytes],
    ['after', after.endBytes],
  ]
  const compared = stackTexts(
    data,
    largest.map((row) => stackOfNode(parents, changes, changes.node[row])),
  )
  return table(`Compared with ${shortened(old)}: ${plural(differing, 'stack differs', 'stacks differ')}`, [
    ...columns.map(([name, cells]): Column => [name, largest.map((row) => cells[row])]),
    ['site', compared.map((text, n) => `${text}${changes.folded[largest[n]] > 0 ? ' \u2190 [others]' : ''}`)],
  ])
}

/** Real allocators with the calls of the trace. */
function allocatorTable({ allocators, verdict, trace }: ReplayResult): string {
  const calls = Math.max(1, callsOf(trace))
  const perCall = (ns: number) => rounded(ns / calls)
  const sentences = verdict.map((sentence) => `<li>${escaped(sentence)}</li>`).join('')
  const columns: Column[] = [
    ['allocator', allocators.map(({ name }) => name)],
    ['rank by time', allocators.map(({ timeRank }) => timeRank)],
    ['ns a call', allocators.map(({ time }) => perCall(time.median))],
    ['quartiles', allocators.map(({ time }) => `${perCall(time.low)} to ${perCall(time.high)}`)],
    ['rank by memory', allocators.map(({ peakRank }) => peakRank)],
    ['resident bytes at the peak', allocators.map(({ peak }) => Math.round(peak.median))],
    ['maxima', allocators.map(({ fragmentation: part }) => (part === null ? '' : `${(100 * part).toFixed(1)} %`))],
    ['at the end', allocators.map(({ final }) => Math.round(final.median))],
    ['page faults', allocators.map(({ pageFaults }) => Math.round(pageFaults.median))],
  ]
  return `${table('Allocators', columns)}<ul>${sentences}</ul>\n`
}

function summaryRows({ summary, generator, name }: ReportData): [string, Cell][] {
  const { allocated, freed, leaked, peakBytes, peakBlocks, temporary, time, overhead } = summary
  return [
    ['trace', name],
    ['made by', generator],
    ['formats', summary.formats.join(', ')],
    ['events', summary.events],
    ['bytes allocated', allocated.bytes],
    ['blocks allocated', allocated.blocks],
    ['blocks freed', freed.blocks],
    ['live bytes at the peak', peakBytes.bytes],
    ['live blocks then', peakBytes.blocks],
    ['the peak is at event', peakBytes.event],
    ['most live blocks', peakBlocks.blocks],
    ['live bytes at the end', leaked.bytes],
    ['live blocks at the end', leaked.blocks],
    ...(summary.identified ? [['temporary blocks', temporary.heaptrack.blocks] as [string, Cell]] : []),
    ['sites', summary.siteCount],
    ['threads', summary.threadCount],
    ...(time ? [[`time in ${time.unit ?? 'its own unit'}`, time.span] as [string, Cell]] : []),
    ...(overhead ? [['bytes beyond those asked for', overhead.wasted] as [string, Cell]] : []),
  ]
}

/** The timeline in few rows, each for several parts. */
function timelineTable({ timeline, summary }: ReportData): string {
  const parts = timeline.event.length
  const rows = Math.min(parts, ROWS)
  const end = (row: number) => Math.ceil((row * parts) / rows)
  const groups = Array.from({ length: rows }, (_, row) => [end(row), end(row + 1)] as const)
  const last = (cells: readonly Cell[]) => groups.map(([, to]) => cells[to - 1])
  const numbers = (cells: readonly Integer[], of: (values: number[]) => number) =>
    groups.map(([from, to]) => of(cells.slice(from, to).map(Number)))
  const sum = (values: number[]) => values.reduce((all, value) => all + value, 0)
  return table('Timeline', [
    ['up to event', last(timeline.event)],
    ...(timeline.time
      ? [[summary.time?.unit ? `time in ${summary.time.unit}` : 'time', last(timeline.time)] as const]
      : []),
    ['live bytes then', last(timeline.liveBytes)],
    ['live blocks then', last(timeline.liveBlocks)],
    ['most live bytes', numbers(timeline.maxBytes, (values) => Math.max(...values))],
    ['allocations', numbers(timeline.allocations, sum)],
    ['frees', numbers(timeline.frees, sum)],
  ])
}

/**
 * The stacks of one table, each in one line, the innermost frame of the program's own first: see docs/statistics.md.
 */
function stackTexts({ frames }: ReportData, stacks: readonly StackFrames[]): string[] {
  const textOf = (id: number) => namedFrameText(frames[id] ?? { name: '' })
  const sources = stacks.map((stack) =>
    stack.length === 0 ? { text: '[all others]' } : { stack: stack.filter((id) => id !== MORE).map(textOf) },
  )
  const options = { own: new OwnFrames(), width: Infinity, frames: FRAMES, next: ' \u2190 ', escape: shortened }
  return rowLabels(sources, options)
}

/** The stacks of problems, of which many have the same. */
function problemStacks(data: ReportData): string[] {
  const stacks = new Map(data.problems.stack.map((stack) => [stack.join(), stack]))
  const texts = stackTexts(data, [...stacks.values()])
  const named = new Map([...stacks].map(([key, stack], n) => [key, stack.length === 0 ? '' : texts[n]]))
  return data.problems.stack.map((stack) => named.get(stack.join()) ?? '')
}
