import uPlot from 'uplot'
import { el } from './dom.js'
import { colour, onTheme } from './theme.js'

/** One line, band edge or area of a chart. */
export interface Series {
  readonly title: string
  /** One value for each x; null where there is none. */
  readonly values: readonly (number | null)[]
  /** The name of a colour of the style sheet. */
  readonly colour: string
  readonly isFilled?: boolean
  /** Drawn as steps, for values that belong to the time since the last x. */
  readonly isStep?: boolean
  /** An edge of a band, thin and without points. */
  readonly isThin?: boolean
}

/** What a chart shows. */
export interface ChartOptions {
  readonly title: string
  readonly x: readonly number[]
  readonly series: readonly Series[]
  /** Pairs of series between which the area is filled, by their numbers from 0. */
  readonly bands?: readonly (readonly [number, number])[]
  /** A place on the x axis; a difference of `step` must be visible. */
  readonly showX: (x: number, step?: number) => string
  readonly showY: (y: number) => string
  /** Whether y is bytes, whose grid is of powers of two. */
  readonly isBytes?: boolean
  /** The position of a vertical line, and its meaning. */
  readonly marks?: readonly { readonly x: number; readonly title: string }[]
  readonly height?: number
  /** Areas and bands have full colours, as where they are on top of each other. */
  readonly isSolid?: boolean
  /** The text of the legend for a series at an index, if not the drawn value. */
  readonly legend?: (series: number, index: number) => string
}

/** A chart, which fills the width of its parent. */
export interface Chart {
  readonly element: HTMLElement
  readonly plot: uPlot
  /** Shows a part of the x axis. */
  zoom(from: number, to: number): void
}

/** Ends the current charts, which listen to the window. */
const endings = new Set<() => void>()

/** Ends all charts before they are replaced. */
export function destroyCharts(): void {
  for (const end of endings) end()
  endings.clear()
}

/** Charts that have the same x axis: they zoom together, and show the values at the same place. */
export class ChartGroup {
  private readonly charts: Chart[] = []
  private isBusy = false
  private readonly key = `group-${Math.random()}`

  /** @param zoomed is called with the part of the x axis that is shown */
  constructor(private readonly zoomed?: (from: number, to: number) => void) {}

  /** Makes a chart of the group. */
  chart(options: ChartOptions): Chart {
    const one = chart(options, this.key, (from, to) => this.zoom(from, to))
    this.charts.push(one)
    return one
  }

  /** Shows a part of the x axis in all charts. */
  zoom(from: number, to: number): void {
    if (this.isBusy || !(to > from)) return
    this.isBusy = true
    for (const one of this.charts) one.zoom(from, to)
    this.isBusy = false
    this.zoomed?.(from, to)
  }
}

/** Steps of the grid for bytes. */
const BINARY_STEPS = Array.from({ length: 64 }, (_, power) => 2 ** power)

function chart(options: ChartOptions, key: string, zoomed: (from: number, to: number) => void): Chart {
  const {
    title,
    x,
    series,
    bands = [],
    showX,
    showY,
    marks = [],
    height = 220,
    isSolid = false,
    isBytes = false,
  } = options
  const alpha = isSolid ? 'b8' : '40'
  const element = el('figure', { class: 'chart' }, el('figcaption', {}, title))
  const grid = { stroke: () => colour('line'), width: 1 }
  const plot = new uPlot(
    {
      width: 600,
      height,
      scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(1, most) * 1.04] } },
      cursor: { sync: { key, setSeries: false }, drag: { x: true, y: false }, points: { size: 6 } },
      legend: { live: true },
      axes: [
        {
          stroke: () => colour('muted'),
          grid,
          ticks: grid,
          values: (_, at) => at.map((place) => showX(place, (at[1] ?? Infinity) - (at[0] ?? 0))),
          space: 100,
          size: 34,
        },
        {
          stroke: () => colour('muted'),
          grid,
          ticks: grid,
          values: (_, at) => at.map(showY),
          size: 76,
          ...(isBytes && { incrs: BINARY_STEPS }),
        },
      ],
      series: [
        { label: 'at', value: (_, value) => (value === null ? '–' : showX(value)) },
        ...series.map((one, s): uPlot.Series => ({
          label: one.title,
          stroke: () => colour(one.colour),
          width: one.isThin === true ? 0.5 : 1.5,
          points: { show: one.values.length < 3 },
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
        fill: () => `${colour((series[high] as Series).colour)}${alpha}`,
      })),
      hooks: {
        setScale: [
          (self, scale) => {
            const { min, max } = self.scales['x'] as uPlot.Scale
            if (scale === 'x' && min !== undefined && max !== undefined && min !== null && max !== null)
              zoomed(min, max)
          },
        ],
        draw: [(self) => drawMarks(self, marks)],
      },
    },
    [[...x], ...series.map(({ values }) => [...values])] as uPlot.AlignedData,
    element,
  )
  const sizes = new ResizeObserver(() => {
    const width = Math.floor(element.clientWidth)
    if (width > 0 && width !== plot.width) plot.setSize({ width, height })
  })
  sizes.observe(element)
  onTheme(element, () => plot.redraw(false, true))
  endings.add(() => {
    sizes.disconnect()
    plot.destroy()
  })
  return { element, plot, zoom: (min, max) => plot.setScale('x', { min, max }) }
}

function drawMarks({ ctx, bbox, valToPos }: uPlot, marks: NonNullable<ChartOptions['marks']>): void {
  ctx.save()
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`
  for (const { x, title } of marks) {
    const at = valToPos(x, 'x', true)
    if (at < bbox.left || at > bbox.left + bbox.width) continue
    ctx.strokeStyle = ctx.fillStyle = colour('accent')
    ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio])
    ctx.beginPath()
    ctx.moveTo(at, bbox.top)
    ctx.lineTo(at, bbox.top + bbox.height)
    ctx.stroke()
    const isRight = at > bbox.left + bbox.width * 0.8
    ctx.textAlign = isRight ? 'right' : 'left'
    ctx.fillText(title, at + (isRight ? -6 : 6) * devicePixelRatio, bbox.top - 4 * devicePixelRatio)
  }
  ctx.restore()
}
