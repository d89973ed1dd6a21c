import type { SimulatedTrace, SimulationData } from '../../lib/exports/simulation/data.js'
import { poolSentence } from '../../lib/exports/simulation/pools.js'
import { keyDialog, listenToKeys } from '../keys.js'
import { resizeCharts } from '../parts/chart.js'
import { choice, el } from '../parts/dom.js'
import { counted, exactBytes, grouped } from '../parts/format.js'
import { layOutForPaper } from '../parts/paper.js'
import { lighten } from '../parts/theme.js'
import { titleBar } from '../parts/title-bar.js'
import { curvesOf } from './curves.js'
import { drawnFirst, linesOf, type Line } from './lines.js'
import { leadOf, policyTable } from './policies.js'

/** Puts simulated heaps into an element: their table and their curves. Of several traces, one at a time is shown. */
export function simulationShell(root: HTMLElement, data: SimulationData): void {
  const { name, generator, notes, traces } = data
  const [first] = traces
  const policies = first === undefined ? 0 : first.simulations.length + first.without.length
  const facts = [
    policies === 1 ? '1 policy' : `${grouped(policies)} policies`,
    first === undefined ? 'no trace' : counted(first.simulations[0]?.events ?? 0, 'event'),
    traces.length > 1 ? counted(traces.length, 'trace') : '',
    `made by ${generator}`,
  ]
  const keys = keyDialog([
    ['t', 'light or dark'],
    ['?', 'this list'],
    ['Space', 'in the table: draw the policy, or not'],
    ['+ − ← → 0', 'in the charts: zoom, move, show all'],
  ])
  const place = el('div')
  const chooser = choice(
    'trace',
    traces.map((_, n) => [String(n), String(n + 1)] as const),
    (n) => show(Number(n)),
  )
  const main = el(
    'main',
    { attributes: { tabindex: '-1' } },
    el(
      'section',
      { class: 'view' },
      el('h2', {}, 'Simulated policies of allocation'),
      ...notes.map((note) => el('p', { class: 'note' }, note)),
      ...(traces.length > 1 ? [el('div', { class: 'bar' }, chooser.element)] : []),
      place,
    ),
  )
  const show = (n: number) => {
    const trace = traces[n]
    place.replaceChildren(...(trace === undefined ? [] : heapsOf(trace)))
  }
  root.replaceChildren(
    titleBar(name, facts, [], () => keys.showModal()),
    main,
    keys,
  )
  show(0)
  // They are there as long as the page.
  listenToKeys(new AbortController().signal, { views: [], open: () => {}, help: () => keys.showModal() })
  let darken = () => {}
  addEventListener('beforeprint', () => {
    darken = lighten()
    layOutForPaper(main)
  })
  addEventListener('afterprint', () => {
    darken()
    resizeCharts()
  })
}

/** The table and the curves of one trace. */
function heapsOf(trace: SimulatedTrace): HTMLElement[] {
  const lines = linesOf(trace)
  const drawn = drawnFirst(lines)
  const curves = curvesOf(lines)
  const draw = () => curves.draw(lines.filter((line) => drawn.has(line)))
  const toggle = (line: Line, isDrawn: boolean) => {
    if (isDrawn) drawn.add(line)
    else drawn.delete(line)
    draw()
  }
  const left = lines.filter((line) => line.figures !== undefined && !drawn.has(line)).map(({ title }) => title)
  const elements = [
    el(
      'p',
      { class: 'lead' },
      leadOf(lines, ({ blocks, requested }) => `${counted(blocks, 'live block')} of ${exactBytes(requested)}`),
    ),
    ...(trace.pools === null ? [] : [el('p', { class: 'note' }, poolSentence(trace.pools))]),
    ...trace.without.map(({ policy, reason }) => el('p', { class: 'note' }, `${policy}: ${reason}`)),
    el('div', { class: 'block' }, policyTable(lines, drawn, toggle)),
    ...(left.length === 0
      ? []
      : [
          el('p', { class: 'explain' }, `Not drawn at first, because their heaps are much larger: ${left.join(', ')}.`),
        ]),
    curves.element,
  ]
  draw()
  return elements
}
