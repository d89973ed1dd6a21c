import type { App, View } from '../app.js'
import { bars, block, none } from '../parts/bars.js'
import { bytesColumn, countColumn } from '../parts/columns.js'
import { button, el } from '../parts/dom.js'
import { xAxis } from '../parts/axis.js'
import { bytes, counted, exactBytes, grouped, share, toNumber } from '../parts/format.js'
import { labeller } from '../parts/ticks.js'
import type { SiteRow } from '../sites/rows.js'
import { table, type Column } from '../parts/table.js'
import { siteTable } from '../sites/table.js'
import { spark } from '../sites/spark.js'

/** The blocks that are live at the end, and the times of their allocation. */
export const leaks: View = {
  title: 'Leaks',
  mount(app) {
    const { summary } = app.model.data
    const { leaked, allocated, filtered, endsEarly = false, suppressed } = summary
    const known =
      suppressed === undefined
        ? undefined
        : `${bytes(suppressed.bytes)} in ${counted(suppressed.blocks, 'block')} are suppressed, by ${counted(suppressed.rules.length, 'rule')}; the generations below have them.`
    if (leaked.blocks === 0) {
      const isClean = suppressed === undefined || suppressed.blocks === 0
      const text = isClean
        ? 'Nothing is live at the end: every block was freed.'
        : `Nothing else is live at the end: ${bytes(suppressed.bytes)} in ${counted(suppressed.blocks, 'block')} are suppressed.`
      return { element: el('section', {}, none(text), suppressedBlock(app)) }
    }
    const lead = `${bytes(leaked.bytes)} in ${counted(leaked.blocks, 'block')} are live at the end: ${share(leaked.bytes, allocated.bytes)} of what was allocated. This is memory that the program lost, or that it kept on purpose until it ended.`
    const { element, input } = siteTable(app, {
      columns: ['endBytes', 'share', 'endBlocks', 'allocatedBlocks', 'peakBytes', 'spark'],
      by: 'endBytes',
      whole: leaked.bytes,
      only: (site) => (app.model.data.sites.endBlocks[site] ?? 0) > 0,
      empty: 'No site matches.',
      step: 25,
      more: app.model.isKnown('generations') ? [generationColumn(app)] : [],
    })
    return {
      element: el(
        'section',
        {},
        filtered
          ? el(
              'p',
              { class: 'note' },
              'Events were removed from this trace, so some of these blocks may have been freed.',
            )
          : undefined,
        endsEarly
          ? el(
              'p',
              { class: 'note' },
              'The recording ended while the program ran on, so some of these blocks may have been freed.',
            )
          : undefined,
        el('p', { class: 'lead' }, lead),
        known === undefined ? undefined : el('p', { class: 'note' }, known),
        el(
          'div',
          { class: 'bar' },
          button('Show in the flame graph', () => app.open('flame', { metric: 'endBytes' })),
        ),
        app.model.isKnown('generations') ? generationBars(app) : undefined,
        block('Sites', 'Where the blocks that are live at the end were allocated.', element),
        suppressedBlock(app),
      ),
      search: input,
    }
  },
}

/** The rules that leave leaks out, with what each does, and the sites of these leaks. */
function suppressedBlock(app: App): HTMLElement | undefined {
  const { summary, sites } = app.model.data
  const { suppressed } = summary
  if (suppressed === undefined || suppressed.blocks === 0) return undefined
  const rules = table<(typeof suppressed.rules)[number]>(
    [
      { title: 'Rule', isText: true, key: ({ name }) => name, cell: ({ name }) => el('bdi', {}, name) },
      bytesColumn('Suppressed', (rule) => rule.bytes),
      countColumn('Blocks', ({ blocks }) => blocks),
    ],
    { label: 'rules that suppress leaks', sortBy: 'Suppressed', empty: '', step: 20 },
  )
  rules.set(suppressed.rules)
  const { element } = siteTable(app, {
    label: 'sites whose leaks are suppressed',
    columns: ['suppressedBytes', 'suppressedBlocks', 'allocatedBytes', 'peakBytes'],
    by: 'suppressedBytes',
    only: (site) => (sites.suppressedBlocks?.[site] ?? 0) > 0,
    empty: 'No site matches.',
    step: 20,
  })
  return block(
    'Suppressed',
    'Known leaks, which the figures above leave out, by the first rule that each fits, and by site.',
    rules.element,
    element,
  )
}

function generationBars(app: App): HTMLElement {
  const { model } = app
  const { generations: g } = model.data
  const axis = xAxis(app)
  const x = model.positions(g, app.axis)
  const from = model.start(app.axis, x[0] ?? 0)
  const last = x.at(-1) ?? 0
  let step = 10 ** Math.floor(Math.log10(Math.max(1e-9, last - from) / 50))
  let text = labeller(last, step, axis.quantity)
  // Slices may be much shorter than others.
  for (let more = 0; more < 3 && new Set(x.map(text)).size < new Set(x).size; more++)
    text = labeller(last, (step /= 10), axis.quantity)
  const values = g.event.map((event, n) => ({
    label: text(x[n] ?? 0),
    value: toNumber(g.endBytes[n]),
    lines: [
      `events ${grouped(model.eventNumber((g.event[n - 1] ?? 0) + 1))} to ${grouped(model.eventNumber(event))}`,
      ...(app.axis === 'time' ? [`${axis.text(x[n - 1] ?? from)} to ${axis.text(x[n] ?? 0)}`] : []),
      `live at the end: ${bytes(g.endBytes[n] ?? 0)} (${exactBytes(g.endBytes[n] ?? 0)}) in ${counted(g.endBlocks[n] ?? 0, 'block')}`,
      `of ${bytes(g.allocatedBytes[n] ?? 0)} in ${counted(g.allocatedBlocks[n] ?? 0, 'block')}: ${share(g.endBytes[n] ?? 0, g.allocatedBytes[n] ?? 0)}`,
    ],
  }))
  return block(
    'Generations',
    'How much of what each slice of the run allocated is still live at the end, by the end of each slice. ' +
      'Slices have equally many events. Bars of about the same height mean a leak; one bar at the beginning is start-up data; one at the ' +
      'end is work in progress.',
    bars(values, {
      label: 'live at the end, by slices of the run',
      x: `${axis.title}, end of each slice`,
      y: 'live at the end',
      quantity: { kind: 'bytes' },
      colour: 'series-1',
    }),
  )
}

/** The generations of a site in small. */
function generationColumn({ model }: App): Column<SiteRow> {
  const { sites } = model.data.generations
  const rowOf = new Map(sites.site.map((site, row) => [site, row]))
  return {
    title: 'Generations',
    isPicture: true,
    help: 'what of each slice of the run is live at the end',
    cell({ site }) {
      const row = rowOf.get(site)
      return row === undefined ? '–' : spark((sites.endBytes[row] ?? []).map(toNumber), true)
    },
  }
}
