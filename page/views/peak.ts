import type { App, View } from '../app.js'
import { axisSwitch, peakPosition, xAxis } from '../parts/axis.js'
import { block, none } from '../parts/bars.js'
import { ChartGroup } from '../parts/chart.js'
import { button, el } from '../parts/dom.js'
import { bytes, counted, grouped, share } from '../parts/format.js'
import { stackLabels } from '../sites/rows.js'
import { siteTable } from '../sites/table.js'

/** The live blocks at the peak, and the ten largest sites over time. */
export const peak: View = {
  title: 'Peak',
  mount(app) {
    const { peakBytes, peakBlocks, leaked } = app.model.data.summary
    if (peakBytes.blocks === 0) return { element: el('section', {}, none('No byte was ever live in this trace.')) }
    const lead = `At event ${grouped(app.model.eventNumber(peakBytes.event))}, ${bytes(peakBytes.bytes)} in ${counted(peakBytes.blocks, 'block')} were live, more than ever before; ${share(leaked.bytes, peakBytes.bytes)} of that amount is live at the end. Most blocks were live at event ${grouped(app.model.eventNumber(peakBlocks.event))}: ${grouped(peakBlocks.blocks)}.`
    const { element, input } = siteTable(app, {
      columns: ['peakBytes', 'share', 'peakBlocks', 'ownPeakBytes', 'endBytes', 'spark'],
      by: 'peakBytes',
      whole: peakBytes.bytes,
      only: (site) => (app.model.data.sites.peakBlocks[site] ?? 0) > 0,
      empty: 'No site matches.',
      step: 25,
    })
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, lead),
        el(
          'div',
          { class: 'bar' },
          button('Show in the flame graph', () => app.open('flame', { metric: 'peakBytes' })),
          axisSwitch(app),
        ),
        stacked(app),
        block('Sites', 'Where the blocks that are live at the peak were allocated.', element),
      ),
      search: input,
    }
  },
}

/** The largest sites, stacked. */
function stacked(app: App): HTMLElement {
  const { model } = app
  const { peakSites: p } = model.data
  const x = model.positions(p, app.axis)
  if (x.length === 0) return none('The trace has no events about blocks.')
  const titles = stackLabels(
    model,
    p.site.map((site) => model.data.sites.stack[site] ?? []),
  )
  const layers = [
    { title: 'all others', values: p.rest },
    ...p.site
      .map((_, n) => ({
        title: titles[n] ?? '',
        values: p.bytes[n] ?? [],
      }))
      .toReversed(),
  ]
  const sums = x.map(() => 0)
  const tops = layers.map(({ values }) => values.map((value, at) => (sums[at] = sums[at] + value)))
  const series = layers
    .map(({ title, values }, n) => ({
      title,
      values,
      top: tops[n] ?? [],
      colour: n === 0 ? 'others' : `series-${layers.length - 1 - n}`,
    }))
    .toReversed()
  const chart = new ChartGroup().chart({
    title: 'Live bytes of the ten largest sites at the peak',
    x,
    series: series.map(({ title, top, colour }, n) => ({
      title,
      values: top,
      colour,
      isThin: true,
      isFilled: n === series.length - 1,
    })),
    bands: [...series.keys()].slice(1).map((n) => [n - 1, n] as const),
    isStacked: true,
    xAxis: xAxis(app),
    yAxis: { title: 'live bytes', quantity: { kind: 'bytes' } },
    showY: bytes,
    marks: [{ x: peakPosition(app), title: 'peak' }],
    legend: (n, index) => bytes(series[n]?.values[index] ?? 0),
    height: 300,
  })
  chart.element.classList.add('many')
  return chart.element
}
