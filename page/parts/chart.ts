import uPlot from 'uplot'
import type { AxisOptions } from './axis.js'
import type { ChartOptions, Series } from './chart-options.js'
import { chartPicture } from './chart-picture.js'
import { el } from './dom.js'
import { markTitles, type Mark } from './mark-titles.js'
import { takeAway } from './take.js'
import { visible } from './text.js'
import { colour, onTheme } from './theme.js'
import { ticks } from './ticks.js'

/** A chart, which fills the width of its parent. */
export interface Chart {
  readonly element: HTMLElement
  /** Shows a part of the x axis. */
  zoom(from: number, to: number): void
  /** Draws further vertical lines, in place of the last call's. What is between two is shaded. */
  mark(marks: readonly Mark[]): void
}

/** What listens to a chart. */
export interface ChartListener {
  /** Called with the part of the x axis that is shown. */
  readonly zoomed: (from: number, to: number) => void
  /** Called with a place that was clicked. Without it, nothing happens. */
  readonly picked?: ((x: number) => void) | undefined
  /** Called with a part over which the pointer was drawn. Without it, the part is shown in full width. */
  readonly selected?: ((from: number, to: number) => void) | undefined
}

/** The charts of the page, which listen to the window. */
const charts = new Set<{ end(): void; resize(width?: number): void }>()

/** Ends all charts before they are replaced. */
export function destroyCharts(): void {
  for (const { end } of charts) end()
  charts.clear()
}

/** Lays all charts out for a width in pixels; without one, for the width of their boxes. */
export function resizeCharts(width?: number): void {
  for (const { resize } of charts) resize(width)
}

/** Charts that have the same x axis: they zoom together, and show the values at the same place. */
export class ChartGroup {
  private readonly charts: Chart[] = []
  private isBusy = false
  private readonly key = `group-${Math.random()}`

  constructor(private readonly listener: Partial<ChartListener> = {}) {}

  /** Makes a chart of the group. */
  chart(options: ChartOptions): Chart {
    const one = chart(options, this.key, { ...this.listener, zoomed: (from, to) => this.zoom(from, to) })
    this.charts.push(one)
    return one
  }

  /** Shows a part of the x axis in all charts. */
  zoom(from: number, to: number): void {
    if (this.isBusy || !(to > from)) return
    this.isBusy = true
    for (const one of this.charts) one.zoom(from, to)
    this.isBusy = false
    this.listener.zoomed?.(from, to)
  }

  /** Draws further vertical lines in all charts. */
  mark(marks: readonly Mark[]): void {
    for (const one of this.charts) one.mark(marks)
  }
}

/** By how many pixels a pointer moves at least for a drag; less is a click of a hand that trembles. */
const LEAST_DRAG = 4

/** Widths of the space for one mark on the axes, in pixels. */
const X_SPACE = 110
const Y_SPACE = 32

function axis(side: 'x' | 'y', { title, quantity }: AxisOptions): uPlot.Axis {
  const grid = { stroke: () => colour('line'), width: 1 }
  const of = ({ scales, bbox }: uPlot) => {
    const { min = 0, max = 1 } = scales[side]
    const length = (side === 'x' ? bbox.width : bbox.height) / devicePixelRatio
    return ticks(min ?? 0, max ?? 1, Math.max(2, Math.floor(length / (side === 'x' ? X_SPACE : Y_SPACE))), quantity)
  }
  return {
    stroke: () => colour('muted'),
    grid,
    ticks: grid,
    label: title,
    labelSize: 18,
    labelFont: '12px system-ui, sans-serif',
    splits: (self) => [...of(self).at],
    values: (self) => [...of(self).texts],
    size: side === 'x' ? 30 : 76,
  }
}

function chart(options: ChartOptions, key: string, { zoomed, picked, selected }: ChartListener): Chart {
  const { title, x, series, bands = [], showY, marks = [], height = 220, isStacked = false } = options
  const alpha = isStacked ? 'd0' : '40'
  const element = el('figure', { class: 'chart' }, el('figcaption', {}, title))
  const step = ((x.at(-1) ?? 0) - (x[0] ?? 0)) / 2000
  let more: readonly Mark[] = []
  let downAt = 0
  const plot = new uPlot(
    {
      width: 600,
      height,
      padding: [22, 40, 0, 0],
      scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(1, most ?? 1) * 1.04] } },
      cursor: {
        sync: { key, setSeries: false },
        // uPlot keeps clicks to itself that are at another place than the press: a page that scrolled is enough.
        drag: { x: true, y: false, setScale: selected === undefined, dist: LEAST_DRAG, click: () => {} },
        points: { size: 6 },
        bind: {
          mousedown: (_, __, handler) => (event) => {
            if (event.button !== 0) return null
            downAt = event.clientX
            return handler(event)
          },
          dblclick: () => () => {
            zoomed(x[0] ?? 0, x.at(-1) ?? 1)
            return null
          },
        },
      },
      legend: { live: true },
      axes: [axis('x', options.xAxis), axis('y', options.yAxis)],
      series: [
        { label: 'at', value: (_, value) => (value === null ? '–' : options.xAxis.text(value, step)) },
        ...series.map((one, s): uPlot.Series => ({
          label: `${isStacked ? `${s + 1} ` : ''}${visible(one.title)}`,
          stroke: () => colour(isStacked ? 'surface' : one.colour),
          width: isStacked ? 1.5 : one.isThin === true ? 0.5 : 1.5,
          points: { show: one.values.length < 3 && !isStacked },
          ...(one.isDashed === true && { dash: [6, 4] }),
          ...(one.isFilled === true && { fill: () => `${colour(one.colour)}${alpha}` }),
          ...(one.isStep === true && {
            paths: (uPlot.paths.stepped as uPlot.Series.SteppedPathBuilderFactory)({ align: -1 }),
          }),
          value: (_, value, __, index) =>
            value === null || index === null ? '–' : (options.legend?.(s, index) ?? showY(value)),
        })),
      ],
      bands: bands.map(([high, low]) => ({
        series: [high + 1, low + 1],
        fill: () => `${colour(series[high].colour)}${alpha}`,
      })),
      hooks: {
        setScale: [
          (self, scale) => {
            const { min, max } = self.scales['x'] as uPlot.Scale
            if (scale !== 'x' || min === undefined || max === undefined || min === null || max === null) return
            shade(self, more)
            zoomed(min, max)
          },
        ],
        setSelect: [
          (self) => {
            const { left, width } = self.select
            // The other charts of the group follow the one with the pointer.
            const isHere = self.cursor.event instanceof MouseEvent
            if (selected === undefined || !isHere || width < LEAST_DRAG) return
            selected(self.posToVal(left, 'x'), self.posToVal(left + width, 'x'))
          },
        ],
        draw: [
          (self) => drawMarks(self, [...marks, ...more]),
          (self) => {
            if (isStacked) drawNumbers(self, series)
          },
        ],
      },
    },
    [[...x], ...series.map(({ values }) => [...values])] as uPlot.AlignedData,
    element,
  )
  // The legend of stacked areas has their colours, not those of the lines between them.
  if (isStacked) colourLegend(plot, series)
  if (picked !== undefined)
    plot.over.addEventListener('click', (event) => {
      const { left } = plot.over.getBoundingClientRect()
      if (Math.abs(event.clientX - downAt) < LEAST_DRAG) picked(plot.posToVal(event.clientX - left, 'x'))
    })
  plot.over.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && !event.shiftKey) return
      event.preventDefault()
      const { min, max } = plot.scales['x'] as { min: number; max: number }
      const at = plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, 'x')
      const by = event.deltaY + event.deltaX < 0 ? 0.8 : 1.25
      zoomed(Math.max(x[0] ?? 0, at - (at - min) * by), Math.min(x.at(-1) ?? 1, at + (max - at) * by))
    },
    { passive: false },
  )
  const resize = (wanted?: number) => {
    const width = wanted ?? Math.floor(element.clientWidth - paddingOf(element))
    if (width > 0 && width !== plot.width) plot.setSize({ width, height })
  }
  const sizes = new ResizeObserver(() => resize())
  sizes.observe(element)
  onTheme(element, () => {
    plot.redraw(false, true)
    if (isStacked) colourLegend(plot, series)
  })
  charts.add({
    resize,
    end() {
      sizes.disconnect()
      plot.destroy()
    },
  })
  const part = (): readonly [number, number] => {
    const { min, max } = plot.scales['x'] as uPlot.Scale
    return [min ?? x[0] ?? 0, max ?? x.at(-1) ?? 1]
  }
  element.append(takeAway(() => chartPicture(options, part(), more)))
  return {
    element,
    zoom: (min, max) => plot.setScale('x', { min, max }),
    mark(next) {
      more = next
      shade(plot, more)
      plot.redraw(false, true)
    },
  }
}

/** Shades what is between two marks, wherever that is now. */
function shade({ over, valToPos, setSelect }: uPlot, marks: readonly Mark[]): void {
  const { clientWidth: width, clientHeight: height } = over
  const inside = (x: number) => Math.max(0, Math.min(width, valToPos(x, 'x')))
  const [left = 0, right = 0] = marks.length < 2 ? [] : marks.map(({ x }) => inside(x)).toSorted((a, b) => a - b)
  setSelect({ left, top: 0, width: right - left, height }, false)
}

function paddingOf(element: HTMLElement): number {
  const { paddingLeft, paddingRight } = getComputedStyle(element)
  return (Number.parseFloat(paddingLeft) || 0) + (Number.parseFloat(paddingRight) || 0)
}

function colourLegend(plot: uPlot, series: readonly Series[]): void {
  plot.root.querySelectorAll<HTMLElement>('.u-legend .u-series').forEach((row, n) => {
    const one = series[n - 1]
    const marker = row.querySelector<HTMLElement>('.u-marker')
    if (one === undefined || marker === null) return
    marker.style.borderColor = marker.style.background = colour(one.colour)
  })
}

/** Where numbers of areas may be: so many parts of the width end there. */
const PLACES = 40

/** The index of the first of ascending numbers that is above another. */
function indexAfter(numbers: ArrayLike<number>, value: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle] > value) high = middle
    else low = middle + 1
  }
  return low
}

/** The number of each area, where it is high enough. */
function drawNumbers({ ctx, bbox, valToPos, posToVal, data }: uPlot, series: readonly Series[]): void {
  const ratio = devicePixelRatio
  ctx.save()
  ctx.font = `600 ${11 * ratio}px system-ui, sans-serif`
  ctx.textAlign = 'center'
  ctx.textBaseline = 'middle'
  const [x = []] = data
  series.forEach((_, s) => {
    const top = data[s + 1]
    const below = data[s + 2] as readonly number[] | undefined
    const text = String(s + 1)
    const half = ctx.measureText(text).width / 2 + 2 * ratio
    let best = { height: 11 * ratio, left: 0, middle: 0 }
    for (let place = 1; place < PLACES; place++) {
      const left = bbox.left + (bbox.width * place) / PLACES
      const [from = 0, to = 0] = [left - half, left + half].map((at) => indexAfter(x, posToVal(at, 'x', true)))
      if (from < 1 || to >= x.length) continue
      // Between two values an area is at least as high as the lower of both heights. The number fits as a whole.
      let [high, low] = [-Infinity, Infinity]
      for (let i = from - 1; i <= to; i++) {
        high = Math.max(high, valToPos(top[i] ?? 0, 'y', true))
        low = Math.min(low, valToPos(below?.[i] ?? 0, 'y', true))
      }
      if (low - high > best.height) best = { height: low - high, left, middle: (high + low) / 2 }
    }
    if (best.left === 0) return
    ctx.fillStyle = colour('on-series')
    ctx.fillText(text, best.left, best.middle)
  })
  ctx.restore()
}

function drawMarks({ ctx, bbox, valToPos }: uPlot, marks: readonly Mark[]): void {
  const ratio = devicePixelRatio
  ctx.save()
  ctx.font = `${12 * ratio}px system-ui, sans-serif`
  ctx.strokeStyle = ctx.fillStyle = colour('accent')
  ctx.setLineDash([5 * ratio, 4 * ratio])
  ctx.lineWidth = ratio
  ctx.textAlign = 'left'
  const ruler = { measureText: (text: string) => ({ width: ctx.measureText(text).width / ratio }) }
  const ends = [bbox.left / ratio, (bbox.left + bbox.width) / ratio] as const
  for (const { at, text, left, above } of markTitles(ruler, marks, (x) => valToPos(x, 'x', true) / ratio, ends)) {
    ctx.beginPath()
    ctx.moveTo(at * ratio, bbox.top)
    ctx.lineTo(at * ratio, bbox.top + bbox.height)
    ctx.stroke()
    ctx.fillText(text, left * ratio, bbox.top - above * ratio)
  }
  ctx.restore()
}
