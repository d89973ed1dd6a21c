import type { HeapMoment } from '../../lib/transforms/simulate/result.js'
import { ChartGroup, destroyCharts } from '../parts/chart.js'
import { button, el, isForBrowser } from '../parts/dom.js'
import { bytes, exactBytes, grouped } from '../parts/format.js'
import { moved, ZOOM_KEYS, type Part } from '../parts/zoom-keys.js'
import type { Line } from './lines.js'

/** What the charts show of each policy. */
const CHARTS = [
  { title: 'Heap: what the policy has from the system', axis: 'heap', key: 'heap' },
  { title: 'Pages with live blocks', axis: 'pages', key: 'pages' },
  { title: 'Live blocks with headers and rounding', axis: 'granted bytes', key: 'granted' },
] as const satisfies readonly { key: keyof HeapMoment; [name: string]: string }[]

/** The charts of some policies. */
export interface Curves {
  readonly element: HTMLElement
  /** Draws other policies, in the part of the run that is shown. */
  draw(lines: readonly Line[]): void
}

/** Charts of the heap, its pages and its blocks over the events of the trace, each with the live bytes. */
export function curvesOf(all: readonly Line[]): Curves {
  // All policies see the same events, and look at the same moments.
  const moments = all.find(({ figures }) => figures !== undefined)?.figures?.timeline ?? []
  const x = moments.map(({ event }) => event)
  const whole: Part = [x[0] ?? 0, x.at(-1) ?? 1]
  const live = all[0]?.figures?.mostLive
  const shown = el('output', { class: 'shown' })
  const area = el('div', {
    class: 'charts',
    attributes: { tabindex: '0', role: 'group', 'aria-label': 'charts: + and - zoom, arrow keys move, 0 shows all' },
    on: { keydown: key },
  })
  let zoomed = whole
  let group = new ChartGroup()

  function key(event: KeyboardEvent): void {
    const step = ZOOM_KEYS[event.key]
    if (event.target !== area || isForBrowser(event)) return
    if (event.key === '0' || event.key === 'Escape') group.zoom(...whole)
    else if (step === undefined) return
    else group.zoom(...moved(zoomed, step, whole))
    event.preventDefault()
    event.stopPropagation()
  }

  function draw(lines: readonly Line[]): void {
    const part = zoomed
    destroyCharts()
    group = new ChartGroup({
      zoomed(from, to) {
        zoomed = [from, to]
        const isAll = from <= whole[0] && to >= whole[1]
        const at = (place: number) => grouped(Math.round(place))
        shown.textContent = isAll ? 'all of the run' : `from event ${at(from)} to ${at(to)}`
      },
    })
    area.replaceChildren(...CHARTS.map((one) => chart(lines, one)))
    group.zoom(...part)
  }

  function chart(lines: readonly Line[], { title, axis, key: figure }: (typeof CHARTS)[number]): HTMLElement {
    return group.chart({
      title,
      x,
      series: [
        {
          title: 'live bytes',
          values: moments.map(({ requested }) => requested),
          colour: 'muted',
          isFilled: true,
          isThin: true,
        },
        ...lines.map((line) => {
          const at = new Map(line.figures?.timeline.map((moment) => [moment.event, moment[figure]]))
          const { colour, isDashed } = line
          return { title: line.title, values: x.map((event) => at.get(event) ?? null), colour, isDashed }
        }),
      ],
      xAxis: { title: 'event', quantity: { kind: 'count' }, text: (event) => grouped(Math.round(event)) },
      yAxis: { title: axis, quantity: { kind: 'bytes' } },
      showY: (value) => `${bytes(value)} (${exactBytes(value)})`,
      marks: live === undefined || live === null ? [] : [{ x: live.event, title: 'most live' }],
    }).element
  }

  const element = el(
    'div',
    {},
    el('p', { class: 'explain' }, 'Drag to zoom, double-click to show all. The area is what the program has live.'),
    el(
      'div',
      { class: 'bar' },
      button('Show all', () => group.zoom(...whole)),
      shown,
    ),
    area,
  )
  return { element: x.length === 0 ? el('div') : element, draw }
}
