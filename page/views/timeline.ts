import type { LogMoment } from '../../lib/transforms/report/live-log.js'
import type { App, Mounted, View } from '../app.js'
import { axisSwitch, atText, peakPosition, xAxis } from '../parts/axis.js'
import { eventsBetween } from '../parts/events-between.js'
import { ChartGroup } from '../parts/chart.js'
import { button, el, isForBrowser } from '../parts/dom.js'
import { bytes, counted, exactBytes, grouped, short, toNumber } from '../parts/format.js'
import type { Mark } from '../parts/mark-titles.js'
import { moved, ZOOM_KEYS, type Part } from '../parts/zoom-keys.js'
import type { Criterion } from '../worker/messages.js'
import { momentPanel } from './moment.js'

/** The part of the x axis shown around the peak. */
const AROUND = 0.02
/** By how much of what is shown a key moves the cursor. */
const STEP = 1 / 50

const OLDER = 'Before the part of the run, the charts and live sets have only the blocks that are live when it begins.'

/** Live bytes and blocks, allocations and frees over time; and the live set at a moment, or changes between two. */
export const timeline: View = {
  title: 'Timeline',
  mount(app): Mounted {
    const { model, filter } = app
    const { timeline: parts, summary } = model.data
    const x = model.positions(parts, app.axis)
    if (x.length === 0)
      return { element: el('section', {}, el('p', { class: 'none' }, 'The trace has no events about blocks.')) }
    const [first, last] = [model.start(app.axis, x[0] ?? 0), x.at(-1) ?? 1]
    const peakAt = peakPosition(app)
    const shown = el('output', { class: 'shown' })
    const answer = el('div', { attributes: { 'aria-live': 'polite' } })
    let zoomed: Part = [first, last]
    let chosen: Part | undefined
    let cursor = peakAt
    let asked = 0
    const only = button('Only this part', () => filter?.add([criterionOf(app, ...(chosen ?? zoomed))]), {
      title: 'filter the trace: keep what is chosen or shown, and the live set when it begins',
      attributes: { disabled: '' },
    })
    const closer = button('Zoom in', () => chosen && group.zoom(...chosen), {
      title: 'show the chosen part in full width',
      attributes: { disabled: '' },
    })
    const say = () => {
      const isAll = zoomed[0] <= first && zoomed[1] >= last
      only.disabled = isAll && chosen === undefined
      closer.disabled = chosen === undefined
      shown.textContent = isAll ? 'all of the run' : `from ${atText(app, zoomed[0])} to ${atText(app, zoomed[1])}`
    }
    const group = new ChartGroup({
      zoomed(from, to) {
        zoomed = [from, to]
        say()
      },
      ...(filter !== undefined && {
        picked: (at: number) => void ask(at),
        selected: (a: number, b: number) => void ask(b, a),
      }),
    })
    // The trace is read once the view is open, so that the first answer is there at once, too.
    const live = () => filter?.live()

    async function ask(to: number, from?: number): Promise<void> {
      const mine = ++asked
      const inside = (at: number) => Math.max(first, Math.min(last, at))
      cursor = inside(to)
      chosen = from === undefined ? undefined : [inside(from), cursor]
      const step = (last - first) / 2000
      const text = (at: number) => (app.axis === 'event' ? `event ${atText(app, at)}` : atText(app, at, step))
      const when = chosen === undefined ? text(cursor) : `${text(chosen[0])} and ${text(cursor)}`
      group.mark(
        chosen === undefined
          ? [{ x: cursor, title: '▾' }]
          : chosen.map((at, n) => ({ x: at, title: n === 0 ? '▸' : '◂' })),
      )
      say()
      const moments = [cursor, ...(chosen === undefined ? [] : [chosen[0]])].map((at) => momentAt(app, at))
      answer.replaceChildren(el('p', { class: 'explain' }, `Reading the live set at ${when} …`))
      try {
        const sites = await live()?.at(moments[0], moments[1])
        if (mine === asked && sites !== undefined) answer.replaceChildren(momentPanel(app, sites, when))
      } catch (error) {
        if (mine !== asked) return
        const reason = error instanceof Error ? error.message : String(error)
        answer.replaceChildren(
          el('p', { class: 'note bad', attributes: { role: 'alert' } }, `It is not known: ${reason}`),
        )
      }
    }

    const charts = makeCharts(app, group, [first, ...x], [{ x: peakAt, title: 'peak' }, ...marksOf(app)])
    const area = el(
      'div',
      {
        class: 'charts',
        attributes: {
          tabindex: '0',
          role: 'group',
          'aria-label':
            'charts: + and - zoom, arrow keys move, 0 shows all' +
            (filter === undefined
              ? ''
              : '; Shift and arrow keys move the cursor, Enter shows the live set there, with Shift since the moment before'),
        },
      },
      ...charts,
    )
    const all = () => group.zoom(first, last)
    const toPeak = () => {
      const width = (last - first) * AROUND
      group.zoom(Math.max(first, peakAt - width), Math.min(last, peakAt + width))
      if (filter !== undefined) void ask(peakAt)
    }
    area.addEventListener('keydown', (event) => {
      if (event.target !== area || isForBrowser(event)) return
      const [min, max] = zoomed
      const step = ZOOM_KEYS[event.key]
      if (event.key === '0' || event.key === 'Escape') all()
      else if (event.key === 'Enter' && filter !== undefined) {
        const since = event.shiftKey ? (chosen?.[0] ?? min) : undefined
        void ask(cursor, since)
      } else if (step === undefined) return
      else if (event.shiftKey && step.zoom === 1 && filter !== undefined) {
        cursor = Math.max(min, Math.min(max, cursor + Math.sign(step.move) * (max - min) * STEP))
        group.mark([{ x: cursor, title: atText(app, cursor) }])
        shown.textContent = `cursor at ${atText(app, cursor)}`
      } else {
        group.zoom(...moved(zoomed, step, [first, last]))
      }
      event.preventDefault()
      event.stopPropagation()
    })
    say()
    const { peakBytes } = summary
    const peak =
      peakBytes.blocks === 0
        ? 'No byte was ever live.'
        : `The peak is ${bytes(peakBytes.bytes)} in ${counted(peakBytes.blocks, 'block')}, at event ${grouped(model.eventNumber(peakBytes.event))}.`
    const how =
      filter === undefined
        ? 'Drag to zoom, double-click to show all.'
        : 'Click to see the live set there. Drag to see what changed between two moments. Shift or Ctrl and the wheel zoom, a double click shows all.'
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, `${peak} ${how}`),
        model.part?.hasOlder === true ? el('p', { class: 'note' }, OLDER) : undefined,
        suppressedNote(app),
        el(
          'div',
          { class: 'bar' },
          button('Jump to the peak', toPeak),
          filter && closer,
          button('Show all', all),
          filter && only,
          axisSwitch(app),
          shown,
        ),
        area,
        answer,
      ),
      show() {
        live()
      },
    }
  },
}

/** What the charts have that the leaks do not. */
function suppressedNote({ model, filter }: App): HTMLElement | undefined {
  const { suppressed } = model.data.summary
  if (suppressed === undefined) return undefined
  const [size, blocks] = [bytes(suppressed.bytes), counted(suppressed.blocks, 'block')]
  const marked = filter === undefined ? '' : ' A live set has them too, with their sites marked.'
  return el('p', { class: 'note' }, `The charts include the leaks that are suppressed: ${size} in ${blocks}.${marked}`)
}

function makeCharts(app: App, group: ChartGroup, x: readonly number[], marks: readonly Mark[]): HTMLElement[] {
  const { timeline: parts } = app.model.data
  const common = { x, xAxis: xAxis(app), marks }
  const values = (column: readonly (number | string)[]) => [0, ...column.map(toNumber)]
  const exact = (columns: readonly (readonly (number | string)[])[]) => (series: number, index: number) => {
    const value = index === 0 ? 0 : (columns[series]?.[index - 1] ?? 0)
    return columns[0] === parts.maxBytes ? `${bytes(value)} (${exactBytes(value)})` : grouped(value)
  }
  const rss = residentAt(app)
  const level = (title: string, columns: (readonly (number | string)[])[], colour: string, isBytes: boolean) =>
    group.chart({
      ...common,
      title,
      series: [
        ...['most', 'least', 'at the end of each part'].map((name, n) => ({
          title: name,
          values: values(columns[n]),
          colour,
          isThin: n < 2,
        })),
        ...(isBytes && rss !== undefined
          ? [{ title: 'resident set', values: [null, ...rss], colour: 'series-1', isDashed: true }]
          : []),
      ],
      bands: [[0, 1]],
      yAxis: { title: title.split(',')[0]?.toLowerCase() ?? '', quantity: { kind: isBytes ? 'bytes' : 'count' } },
      showY: isBytes ? bytes : short,
      legend: (series, index) => {
        if (series < 3) return exact(columns)(series, index)
        const value = rss?.[index - 1]
        return value === null || value === undefined ? '–' : bytes(value)
      },
    })
  const title = rss === undefined ? 'Live bytes' : 'Live bytes, and the resident set of all processes'
  return [
    level(title, [parts.maxBytes, parts.minBytes, parts.liveBytes], 'series-0', true),
    level('Live blocks', [parts.maxBlocks, parts.minBlocks, parts.liveBlocks], 'series-2', false),
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
      height: 180,
    }),
  ].map(({ element }) => element)
}

/** The maximum number of resident bytes in each part of the timeline, where they are known. */
function residentAt({ model }: App): (number | null)[] | undefined {
  return model.data.timeline.resident?.map((most) => (most === null ? null : toNumber(most)))
}

/** The marks that the trace has. */
function marksOf(app: App): Mark[] {
  const { marks } = app.model.data
  if (marks === undefined) return []
  return app.model.positions(marks, app.axis).map((x, n) => ({ x, title: marks.title[n] ?? '' }))
}

/** The moment at a place of the x axis, in what is shown. */
function momentAt({ model, axis }: App, x: number): LogMoment {
  if (axis === 'time') return { time: x - model.timeOffset }
  return { event: model.part === undefined ? Math.round(x) : model.eventOf(Math.round(x)) }
}

/** The criterion that a part of the x axis is. */
function criterionOf({ model, axis }: App, from: number, to: number): Criterion {
  const { timeline, summary } = model.data
  // Of several traces, a time of the chart is none of the events.
  if (axis === 'time' && (summary.traces > 1 || (model.part !== undefined && model.part.first === undefined))) {
    const [first, last] = eventsBetween(timeline.event, model.positions(timeline, axis), from, to)
    return ['part', `${model.eventNumber(first)}..${model.eventNumber(last)}`]
  }
  if (axis === 'time') {
    const start = BigInt(model.part?.first ?? summary.time?.first ?? 0)
    const at = (x: number) => start + BigInt(Math.max(0, Math.round(x)))
    return ['part', `time:${at(from)}..${at(to)}`]
  }
  const end = model.eventNumber(summary.events)
  const [first, last] = [Math.max(1, Math.ceil(from)), Math.floor(Math.min(to, end))]
  return ['part', `${first}..${Math.max(first, last)}`]
}
