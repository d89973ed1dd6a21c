import { svg } from '../parts/dom.js'

const WIDTH = 96
const HEIGHT = 22

/** A small picture of a figure over time. @param isBars whether to draw each value as a bar */
export function spark(values: readonly number[], isBars = false): SVGSVGElement {
  const largest = Math.max(1, ...values)
  const y = (value: number) => HEIGHT - 1 - (value / largest) * (HEIGHT - 3)
  const step = WIDTH / Math.max(1, values.length - (isBars ? 0 : 1))
  const shapes = isBars
    ? values.flatMap((value, n) => {
        const size = { y: y(value), width: Math.max(1, step - 0.6), height: HEIGHT - y(value) }
        return value === 0 ? [] : svg('rect', { class: 'bar', x: n * step, ...size })
      })
    : lines(values.map((value, n) => `${(n * step).toFixed(1)},${y(value).toFixed(1)}`))
  const box = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT }
  return svg('svg', { class: 'spark', ...box, 'aria-hidden': 'true' }, ...shapes)
}

function lines(points: readonly string[]): SVGElement[] {
  const line = points.length === 1 ? `${points[0]} ${WIDTH},${points[0]?.split(',')[1]}` : points.join(' ')
  return [svg('polygon', { points: `0,${HEIGHT} ${line} ${WIDTH},${HEIGHT}` }), svg('polyline', { points: line })]
}
