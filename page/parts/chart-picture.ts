import type { ChartOptions } from './chart-options.js'
import { markTitles, type Mark } from './mark-titles.js'
import { SvgBrush, type Brush } from './svg-context.js'
import type { Picture } from './take.js'
import { withoutMiddle } from './text.js'
import { colour } from './theme.js'
import { ticks, type Quantity } from './ticks.js'

const WIDTH = 1000
const LEFT = 84
const RIGHT = 30
const TOP = 28
const BELOW = 46
const LINE = 18
const FONT = '12px system-ui, sans-serif'

/** Lines between points. Canvases and SVG have different ways to draw them. */
function drawPath(
  brush: Brush,
  points: readonly (readonly [number, number] | null)[],
  style: { stroke?: string; fill?: string; width?: number; dash?: boolean; opacity?: number },
): void {
  const { stroke, fill, width = 1.5, dash = false, opacity = 1 } = style
  if (brush instanceof SvgBrush) {
    brush.path(points, {
      fill: fill ?? 'none',
      ...(fill !== undefined && { 'fill-opacity': String(opacity) }),
      ...(stroke !== undefined && { stroke, 'stroke-width': String(width) }),
      ...(dash && { 'stroke-dasharray': '6 4' }),
    })
    return
  }
  const context = brush as CanvasRenderingContext2D
  context.beginPath()
  let isDown = false
  for (const point of points) {
    if (point !== null) context[isDown ? 'lineTo' : 'moveTo'](...point)
    isDown = point !== null
  }
  context.setLineDash(dash ? [6, 4] : [])
  context.lineWidth = width
  if (fill !== undefined) {
    context.globalAlpha = opacity
    context.fillStyle = fill
    context.fill()
    context.globalAlpha = 1
  }
  if (stroke !== undefined) {
    context.strokeStyle = stroke
    context.stroke()
  }
  context.setLineDash([])
}

/** The axes of a picture. @returns the positions of values */
function drawAxes(
  brush: Brush,
  { height, x, y }: { height: number; x?: Scale; y: Scale },
): { toX: (value: number) => number; toY: (value: number) => number } {
  const toX = (value: number) =>
    LEFT + (x === undefined ? 0 : ((value - x.from) / (x.to - x.from || 1)) * (WIDTH - LEFT - RIGHT))
  const toY = (value: number) => TOP + (1 - (value - y.from) / (y.to - y.from || 1)) * height
  brush.font = FONT
  const line = (ax: number, ay: number, bx: number, by: number) =>
    drawPath(
      brush,
      [
        [ax, ay],
        [bx, by],
      ],
      { stroke: colour('line'), width: 1 },
    )
  const marks = ticks(y.from, y.to, 6, y.quantity)
  marks.at.forEach((at, n) => {
    line(LEFT, toY(at), WIDTH - RIGHT, toY(at))
    brush.fillStyle = colour('muted')
    brush.textAlign = 'right'
    brush.fillText(marks.texts[n] ?? '', LEFT - 8, toY(at) + 4)
  })
  if (x !== undefined) {
    const across = ticks(x.from, x.to, 8, x.quantity)
    across.at.forEach((at, n) => {
      line(toX(at), TOP, toX(at), TOP + height)
      brush.fillStyle = colour('muted')
      brush.textAlign = 'center'
      brush.fillText(across.texts[n] ?? '', toX(at), TOP + height + 18)
    })
    brush.fillText(x.title, LEFT + (WIDTH - LEFT - RIGHT) / 2, TOP + height + 38)
  }
  brush.save()
  brush.translate(14, TOP + height / 2)
  brush.rotate(-Math.PI / 2)
  brush.textAlign = 'center'
  brush.fillStyle = colour('muted')
  brush.fillText(y.title, 0, 0)
  brush.restore()
  return { toX, toY }
}

interface Scale {
  readonly from: number
  readonly to: number
  readonly title: string
  readonly quantity: Quantity
}

/** A chart as it is shown now. @param part of the x axis */
export function chartPicture(
  options: ChartOptions,
  [from, to]: readonly [number, number],
  more: readonly Mark[],
): Picture {
  const { title, x, series, bands = [], xAxis, yAxis, marks = [], height = 220, isStacked = false } = options
  const inside = x.map((at, n) => (at >= from && at <= to ? n : -1)).filter((n) => n >= 0)
  const shown =
    inside.length === 0
      ? []
      : rangeOf(Math.max(0, inside[0] - 1), Math.min(x.length - 1, (inside.at(-1) as number) + 1))
  const most = Math.max(1, ...series.flatMap(({ values }) => shown.map((n) => values[n] ?? 0)))
  return {
    title,
    width: WIDTH,
    height: TOP + height + BELOW + LINE * series.length + 6,
    draw(brush) {
      const { toX, toY } = drawAxes(brush, {
        height,
        x: { from, to, ...xAxis },
        y: { from: 0, to: most * 1.04, ...yAxis },
      })
      const inX = (value: number) => toX(Math.max(from, Math.min(to, value)))
      const pointsOf = (s: number) =>
        shown.map((n): readonly [number, number] | null => {
          const value = series[s]?.values[n]
          return value === null || value === undefined ? null : [inX(x[n]), toY(value)]
        })
      const base = (points: readonly (readonly [number, number] | null)[]) =>
        points.map((point): readonly [number, number] | null => point && [point[0], toY(0)]).toReversed()
      const opacity = isStacked ? 0.85 : 0.25
      bands.forEach(([high, low]) =>
        drawPath(brush, [...pointsOf(high), ...pointsOf(low).toReversed()].filter(isPoint), {
          fill: colour(series[high]?.colour ?? 'text'),
          opacity,
        }),
      )
      series.forEach((one, s) => {
        const points = pointsOf(s)
        const style = { stroke: colour(isStacked ? 'surface' : one.colour), width: one.isThin === true ? 0.5 : 1.5 }
        if (one.isFilled === true)
          drawPath(brush, [...points, ...base(points)].filter(isPoint), { fill: colour(one.colour), opacity })
        const stepped = points.flatMap((point, n) => {
          const before = points[n - 1]
          return point === null || before === null || before === undefined
            ? [point]
            : [[before[0], point[1]] as const, point]
        })
        drawPath(brush, one.isStep === true ? stepped : points, { ...style, dash: one.isDashed === true })
      })
      for (const { at, text, left, above } of markTitles(brush, [...marks, ...more], toX, [LEFT, WIDTH - RIGHT])) {
        drawPath(
          brush,
          [
            [at, TOP],
            [at, TOP + height],
          ],
          { stroke: colour('accent'), width: 1, dash: true },
        )
        brush.fillStyle = colour('accent')
        brush.textAlign = 'left'
        brush.fillText(text, left, TOP - above)
      }
      series.forEach((one, s) => {
        const y = TOP + height + BELOW + LINE * s
        brush.fillStyle = colour(one.colour)
        brush.fillRect(LEFT, y, 12, 12)
        brush.fillStyle = colour('text')
        brush.textAlign = 'left'
        brush.fillText(
          `${isStacked ? `${s + 1} ` : ''}${withoutMiddle(one.title, 130)}${one.isDashed === true ? ' (dashed)' : ''}`,
          LEFT + 18,
          y + 10,
        )
      })
    },
  }
}

function isPoint(point: readonly [number, number] | null): point is readonly [number, number] {
  return point !== null
}

function rangeOf(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => from + n)
}

/** Bars as a picture. */
export function barPicture(
  title: string,
  values: readonly { readonly label: string; readonly value: number }[],
  axes: { readonly x: string; readonly y: string; readonly quantity: Quantity; readonly colour: string },
): Picture {
  const height = 200
  const most = Math.max(1, ...values.map(({ value }) => value))
  return {
    title,
    width: WIDTH,
    height: TOP + height + BELOW,
    draw(brush) {
      const { toY } = drawAxes(brush, { height, y: { from: 0, to: most, title: axes.y, quantity: axes.quantity } })
      const step = (WIDTH - LEFT - RIGHT) / Math.max(1, values.length)
      const every = Math.max(1, Math.ceil(64 / step))
      values.forEach(({ label, value }, n) => {
        const left = LEFT + n * step
        brush.fillStyle = colour(axes.colour)
        brush.fillRect(left + 1, toY(value), Math.max(1, step - 2), TOP + height - toY(value))
        brush.fillStyle = colour('muted')
        brush.textAlign = 'center'
        if (n % every === 0) brush.fillText(label, left + step / 2, TOP + height + 18)
      })
      brush.fillText(axes.x, LEFT + (WIDTH - LEFT - RIGHT) / 2, TOP + height + 38)
    },
  }
}
