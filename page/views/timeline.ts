import type { App, Mounted, View } from '../app.js'
import { axisSwitch, atText, peakPosition, xAxis } from '../parts/axis.js'
import { ChartGroup, type ChartOptions } from '../parts/chart.js'
import { button, el } from '../parts/dom.js'
import { bytes, exactBytes, grouped, short, toNumber } from '../parts/format.js'
import type { Criterion } from '../worker/messages.js'

/** The part of the x axis shown around the peak. */
const AROUND = 0.02

/** Live bytes and blocks, allocations and frees over time. */
export const timeline: View = {
  title: 'Timeline',
  mount(app): Mounted {
    const { model } = app
    const { timeline: parts, summary } = model.data
    const x = model.positions(parts, app.axis)
    if (x.length === 0)
      return { element: el('section', {}, el('p', { class: 'none' }, 'The trace has no events about blocks.')) }
    const [first, last] = [model.start(app.axis, x[0] ?? 0), x.at(-1) ?? 1]
    const peakAt = peakPosition(app)
    const shown = el('output', { class: 'shown' })
    let zoomed: readonly [number, number] = [first, last]
    const only = button('Only this part', () => app.filter?.add([criterionOf(app, ...zoomed)]), {
      title: 'filter the trace: keep what is shown',
      attributes: { disabled: '' },
    })
    const group = new ChartGroup({
      zoomed: (from, to) => {
        const isAll = from <= first && to >= last
        zoomed = [from, to]
        only.disabled = isAll
        shown.textContent = isAll ? 'all of the run' : `from ${atText(app, from)} to ${atText(app, to)}`
      },
    })
    const common = {
      x: [first, ...x],
      xAxis: xAxis(app),
      marks: [{ x: peakAt, title: 'peak' }],
    }
    const values = (column: readonly (number | string)[]) => [0, ...column.map(toNumber)]
    const exact = (columns: readonly (readonly (number | string)[])[]) => (series: number, index: number) => {
      const value = index === 0 ? 0 : (columns[series]?.[index - 1] ?? 0)
      return columns[0] === parts.maxBytes ? `${bytes(value)} (${exactBytes(value)})` : grouped(value)
    }
    const level = (
      title: string,
      columns: (readonly (number | string)[])[],
      colour: string,
      showY: ChartOptions['showY'],
    ) =>
      group.chart({
        ...common,
        title,
        series: ['most', 'least', 'at the end of each part'].map((name, n) => ({
          title: name,
          values: values(columns[n] as readonly number[]),
          colour,
          isThin: n < 2,
        })),
        bands: [[0, 1]],
        yAxis: { title: title.toLowerCase(), quantity: { kind: showY === bytes ? 'bytes' : 'count' } },
        showY,
        legend: exact(columns),
      })
    const charts = [
      level('Live bytes', [parts.maxBytes, parts.minBytes, parts.liveBytes], 'series-0', bytes),
      level('Live blocks', [parts.maxBlocks, parts.minBlocks, parts.liveBlocks], 'series-2', short),
      group.chart({
        ...common,
        title: 'Allocations and frees, in each part of the timeline',
        series: [
          { title: 'allocations', values: values(parts.allocations), colour: 'series-1', isStep: true },
          { title: 'frees', values: values(parts.frees), colour: 'series-4', isStep: true, isDashed: true },
        ],
        yAxis: { title: 'events', quantity: { kind: 'count' } },
        showY: short,
        legend: exact([parts.allocations, parts.frees]),
        height: 160,
      }),
    ]
    const area = el(
      'div',
      {
        class: 'charts',
        attributes: { tabindex: '0', 'aria-label': 'charts: + and - zoom, arrow keys move, 0 shows all' },
      },
      ...charts.map(({ element }) => element),
    )
    const all = () => group.zoom(first, last)
    const toPeak = () => {
      const width = (last - first) * AROUND
      group.zoom(Math.max(first, peakAt - width), Math.min(last, peakAt + width))
    }
    area.addEventListener('keydown', (event) => {
      const { min = first, max = last } = charts[0]?.plot.scales['x'] ?? {}
      const step = KEYS[event.key]
      if (event.key === '0' || event.key === 'Escape') all()
      else if (step === undefined) return
      else {
        const width = (max - min) / step.zoom
        const middle = (min + max) / 2 + (max - min) * step.move
        group.zoom(Math.max(first, middle - width / 2), Math.min(last, middle + width / 2))
      }
      event.preventDefault()
      event.stopPropagation()
    })
    shown.textContent = 'all of the run'
    const peak = `The peak is ${bytes(summary.peakBytes.bytes)} in ${grouped(summary.peakBytes.blocks)} blocks, at event ${grouped(model.eventNumber(summary.peakBytes.event))}.`
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, `${peak} Drag to zoom, double-click to show all.`),
        el(
          'div',
          { class: 'bar' },
          button('Jump to the peak', toPeak),
          button('Show all', all),
          app.filter && only,
          axisSwitch(app),
          shown,
        ),
        area,
      ),
    }
  },
}

/** The criterion that a part of the x axis is. */
function criterionOf({ model, axis }: App, from: number, to: number): Criterion {
  if (axis === 'time') {
    const start = BigInt(model.part?.first ?? model.data.summary.time?.first ?? 0)
    const at = (x: number) => start + BigInt(Math.max(0, Math.round(x)))
    return ['part', `time:${at(from)}..${at(to)}`]
  }
  const [first, last] = [
    Math.max(1, Math.ceil(from)),
    Math.floor(Math.min(to, model.eventNumber(model.data.summary.events))),
  ]
  return ['part', `${first}..${Math.max(first, last)}`]
}

const KEYS: Readonly<Record<string, { zoom: number; move: number }>> = {
  '+': { zoom: 2, move: 0 },
  '=': { zoom: 2, move: 0 },
  '-': { zoom: 0.5, move: 0 },
  ArrowLeft: { zoom: 1, move: -0.25 },
  ArrowRight: { zoom: 1, move: 0.25 },
}
