import type { Integer, ReportSummary } from '../../lib/transforms/report/result.js'
import type { App, View } from '../app.js'
import { bars, block, none } from '../parts/bars.js'
import { bytesColumn, countColumn } from '../parts/columns.js'
import { button, el } from '../parts/dom.js'
import { bytes, counted, duration, grouped, rounded, share, short, withNoun } from '../parts/format.js'
import { table } from '../parts/table.js'
import { siteTable } from '../sites/table.js'
import { bitsText, heatMap } from './heat-map.js'

/** A block that is resized goes on. */
const NONE_ENDED = 'No block ended: a realloc ends none.'

type Histogram = ReportSummary['lifetimes']['events']

/** Churn: sizes, lifetimes, temporary blocks, reallocs. */
export const churn: View = {
  title: 'Churn',
  mount(app) {
    const { data } = app.model
    const { summary, churn: c, sites } = data
    if (summary.allocated.blocks === 0 && c.heat.length === 0)
      return { element: el('section', {}, none('Nothing was allocated or freed in this trace.')) }
    const counts = new Map<number, number>()
    const isMapped = summary.identified && c.heat.length > 0
    const list = siteTable(app, {
      columns: [
        'allocatedBlocks',
        'share',
        'allocatedBytes',
        'temporaryBlocks',
        'lifetime',
        'reallocs',
        'ownPeakBytes',
      ],
      by: 'allocatedBlocks',
      whole: summary.allocated.blocks,
      empty: 'No site matches.',
      step: 20,
      more: !isMapped
        ? []
        : [
            {
              title: 'In the cell',
              help: 'blocks of the chosen cell of the heat map',
              key: ({ site }) => counts.get(site) ?? 0,
              cell: ({ site }) => (counts.size === 0 ? '–' : grouped(counts.get(site) ?? 0)),
            },
          ],
    })
    const chosen = el('div', { class: 'chosen', attributes: { 'aria-live': 'polite' } })
    const choose = (cell: { size: number; lifetime: number; index: number; count: number } | undefined) => {
      counts.clear()
      chosen.replaceChildren()
      if (cell === undefined) {
        list.only(undefined)
        return
      }
      sites.heatCells.forEach((cells, site) => {
        for (let c2 = 0; c2 < cells.length; c2 += 2) if (cells[c2] === cell.index) counts.set(site, cells[c2 + 1])
      })
      list.only((site) => counts.has(site))
      list.table.sort('In the cell', true)
      chosen.append(
        el(
          'span',
          {},
          `Sites with blocks of ${bitsText(cell.size, 'byte')} that lived ${bitsText(cell.lifetime, 'event')}: ${counted(cell.count, 'block')}`,
        ),
        button('Show all sites', () => map.clear()),
      )
    }
    const map = heatMap(c.heat, choose)
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, lead(app)),
        summary.identified
          ? block(
              'Sizes and lifetimes',
              'Blocks that were freed, by size and by how many events about blocks they lived. Click a cell to see ' +
                'the sites that its blocks come from.',
              isMapped ? map.element : none(NONE_ENDED),
            )
          : undefined,
        el('div', { class: 'block' }, el('h3', {}, 'Sites'), chosen, list.element),
        el('div', { class: 'columns' }, sizesBlock(app), lifetimesBlock(app)),
        reallocsBlock(app),
      ),
      search: list.input,
    }
  },
}

function lead({ model }: App): string {
  const { temporary, allocated, identified } = model.data.summary
  if (!identified)
    return `${counted(allocated.blocks, 'allocation')}. The trace does not say which block is freed, so temporary allocations and lifetimes are not known.`
  const [heaptrack, memray] = [temporary.heaptrack.blocks, temporary.memray.blocks]
  return `${grouped(heaptrack)} of ${counted(allocated.blocks, 'allocation')} (${share(heaptrack, allocated.blocks)}) ${heaptrack === 1 ? 'is' : 'are'} temporary: the next call freed the block. With at most one other allocation of the same thread in between, as memray counts: ${grouped(memray)} (${share(memray, allocated.blocks)}).`
}

function sizesBlock({ model }: App): HTMLElement {
  const { sizes } = model.data.churn
  const all = model.data.summary.allocated.blocks
  const count = (title: string, values: readonly number[]) => countColumn<number>(title, (n) => values[n] ?? 0)
  const list = table<number>(
    [
      bytesColumn('Size', (n) => sizes.size[n] ?? 0),
      count('Allocations', sizes.count),
      { title: 'Share', cell: (n) => share(sizes.count[n] ?? 0, all) },
      ...(model.isKnown('temporaryBlocks') ? [count('Temporary', sizes.temporaryBlocks)] : []),
      count('At peak', sizes.peakBlocks),
      count('At end', sizes.endBlocks),
    ],
    { label: 'sizes', sortBy: 'Allocations', empty: 'Nothing was allocated.', step: 200 },
  )
  list.set([...sizes.size.keys()])
  const rest = sizes.others
  const more =
    rest === undefined ? '' : ` ${counted(rest.sizes, 'other size')} had ${counted(rest.count, 'allocation')}.`
  list.element.classList.add('low')
  return block('Most frequent sizes', `Sizes as requested.${more}`, list.element)
}

function lifetimesBlock({ model }: App): HTMLElement {
  const { lifetimes, identified } = model.data.summary
  if (!identified) return block('Lifetimes', 'They are not known: the trace does not say which block is freed.')
  const { events, time } = lifetimes
  if (events.count === 0) return block('Lifetimes', NONE_ENDED)
  const picture = (
    title: string,
    x: string,
    { bars: values, count: all }: Histogram,
    show: (value: Integer) => string,
  ) =>
    bars(
      values.map(({ from, to, count }) => ({
        label: show(from),
        value: count,
        lines: [`${show(from)} to ${show(to)}`, `${counted(count, 'block')}, ${share(count, all)}`],
      })),
      { label: title, x, y: 'blocks', colour: 'series-3' },
    )
  const text = `How long blocks lived that were freed, in events about blocks: ${rounded(events.mean)} on average.`
  const inTime = (value: Integer) => duration(value, model.unit)
  return block(
    'Lifetimes',
    text,
    picture('lifetimes in events', 'lifetime in events, from', events, short),
    ...(time === undefined
      ? []
      : [
          el('p', { class: 'explain' }, `In time: ${inTime(time.mean)} on average.`),
          picture('lifetimes in time', 'lifetime, from', time, inTime),
        ]),
  )
}

function reallocsBlock(app: App): HTMLElement {
  const { churn: c, sites } = app.model.data
  const changes = c.grown + c.shrunk + c.same
  if (changes === 0) return block('Reallocs', 'No block was resized.')
  const text = `${counted(changes, 'realloc')} resized a block: ${grouped(c.grown)} made it larger (by ${bytes(c.grownBytes)} in all), ${grouped(c.shrunk)} smaller (by ${bytes(c.shrunkBytes)}), ${grouped(c.same)} left its size. ${counted(c.moved, 'block')} moved to another address. The bars are blocks by how many times they were resized.`
  const { element } = siteTable(app, {
    label: 'sites by reallocs',
    columns: ['reallocs', 'grown', 'moved', 'allocatedBlocks', 'allocatedBytes'],
    by: 'reallocs',
    only: (site) => (sites.reallocs[site] ?? 0) > 0,
    empty: 'No site matches.',
    step: 10,
  })
  const { from, to, count } = c.chains
  const values = count.map((value, n) => {
    const [least, most] = [from[n] ?? 0, to[n] ?? null]
    const times =
      most === null
        ? `${grouped(least)} or more`
        : least === most
          ? grouped(least)
          : `${grouped(least)} to ${grouped(most)}`
    return { label: short(least), value, lines: [`resized ${withNoun(times, 'time')}`, counted(value, 'block')] }
  })
  const picture = bars(values, {
    label: 'blocks by how many times they were resized',
    x: 'times resized, from',
    y: 'blocks',
    colour: 'series-2',
  })
  return block('Reallocs', text, picture, element)
}
