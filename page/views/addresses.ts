import type { ReportAddresses } from '../../lib/transforms/report/result.js'
import type { App, View } from '../app.js'
import { axisSwitch, xAxis } from '../parts/axis.js'
import { bars, block, none } from '../parts/bars.js'
import { ChartGroup } from '../parts/chart.js'
import { bytesColumn } from '../parts/columns.js'
import { el } from '../parts/dom.js'
import { bytes, counted, grouped, share, short, toNumber } from '../parts/format.js'
import { table } from '../parts/table.js'
import { siteName, stackText } from '../sites/name.js'
import { siteRows } from '../sites/rows.js'
import { addressMap } from './address-map.js'

const INVENTED =
  'An interpreted heaptrack file does not have the addresses of its blocks, so their pages are not known. ' +
  'The raw file has them.'

/** The use of addresses: the positions of blocks, and how full their pages are. */
export const addresses: View = {
  title: 'Addresses',
  mount(app) {
    const { addresses: a, noAddresses } = app.model.data
    if (a === undefined || a.map.cells.length === 0) {
      const isInvented = noAddresses === 'invented'
      const reason = isInvented ? INVENTED : 'No block has an address.'
      return { element: el('section', {}, none(reason)) }
    }
    const [pages = 0, live = 0] = [a.use.pages.at(-1), a.use.liveBytes.at(-1)]
    const atEnd = pages === 0 ? 'none' : `${grouped(pages)}, of which ${share(live, pages * a.pageBytes)} is live`
    const lead = `Live blocks are in at most ${counted(a.mostPages, 'page')} of ${bytes(a.pageBytes)}; at the end in ${atEnd}. What the allocator needs for itself is not in a trace.`
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, lead),
        el('div', { class: 'bar' }, axisSwitch(app)),
        block(
          'Addresses over time',
          `Each row is ${bytes(a.map.rowBytes)} of addresses, with the lowest at the bottom; the stronger the colour, the more of it is live. Large gaps between addresses are left out.`,
          addressMap(app, a.map),
        ),
        useChart(app, a),
        pagesBlock(a),
        sparseBlock(app, a),
      ),
    }
  },
}

function useChart(app: App, { use, pageBytes }: ReportAddresses): HTMLElement {
  const x = app.model.positions(use, app.axis)
  const held = use.pages.map((pages) => pages * pageBytes)
  return new ChartGroup().chart({
    title: 'Live bytes, and the pages that they are in',
    x,
    series: [
      { title: 'pages with live blocks', values: held, colour: 'series-1', isDashed: true },
      { title: 'live bytes', values: use.liveBytes.map(toNumber), colour: 'series-0', isFilled: true },
    ],
    xAxis: xAxis(app),
    yAxis: { title: 'bytes', quantity: { kind: 'bytes' } },
    showY: bytes,
    legend: (n, at) =>
      n === 0 ? `${bytes(held[at] ?? 0)} in ${counted(use.pages[at] ?? 0, 'page')}` : bytes(use.liveBytes[at] ?? 0),
    height: 200,
  }).element
}

function pagesBlock({ pages, pageBytes }: ReportAddresses): HTMLElement {
  const picture = (title: string, counts: readonly number[]) => {
    const all = counts.reduce((sum, n) => sum + n, 0)
    if (all === 0) return el('div', {}, el('h4', {}, title), none('No page had a live byte.'))
    const values = counts.map((value, n) => ({
      label: short(pages.to[n] ?? 0),
      value,
      lines: [
        `over ${grouped(pages.from[n] ?? 0)} and up to ${grouped(pages.to[n] ?? 0)} bytes live`,
        `${counted(value, 'page')}, ${share(value, all)}`,
      ],
    }))
    const axes = { label: title, x: 'live bytes of a page, up to', y: 'pages', colour: 'series-5' }
    return el('div', {}, el('h4', {}, title), bars(values, axes))
  }
  return block(
    'Pages by occupancy',
    `Pages of ${bytes(pageBytes)} that have a live byte, by how many bytes of them are live. Full pages are on the right; many on the left mean fragmentation.`,
    el('div', { class: 'columns' }, picture('At the peak', pages.atPeak), picture('At the end', pages.atEnd)),
  )
}

function sparseBlock(app: App, { sparse }: ReportAddresses): HTMLElement {
  const title = 'Sites that keep nearly empty pages alive'
  if (sparse.site.length === 0) return block(title, 'At the end, no page is nearly empty.')
  const rows = siteRows(app.model)
  const list = table<number>(
    [
      {
        title: 'Site',
        isText: true,
        key: (n) => rows[sparse.site[n] ?? -1]?.name ?? '',
        cell: (n) => {
          const row = rows[sparse.site[n] ?? -1]
          return row === undefined ? '' : siteName(row)
        },
        file: (n) => stackText(rows[sparse.site[n] ?? -1], ''),
      },
      {
        title: 'Pages',
        help: 'as shares where several blocks keep a page',
        key: (n) => sparse.pages[n] ?? 0,
        cell: (n) => short(sparse.pages[n] ?? 0),
      },
      bytesColumn('Not live', (n) => sparse.bytes[n] ?? 0, 'bytes of these pages that are not live'),
    ],
    {
      label: 'sites on sparse pages',
      sortBy: 'Not live',
      empty: 'There is none.',
      step: 20,
      open: (n) => app.open('flame', { node: rows[sparse.site[n] ?? -1]?.node ?? 0 }),
    },
  )
  list.set([...sparse.site.keys()])
  return block(
    title,
    'Pages of which at most a quarter is live at the end, by the sites of the blocks in them.',
    list.element,
  )
}
