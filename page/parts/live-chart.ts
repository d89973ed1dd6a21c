import type { App } from '../app.js'
import { peakPosition, xAxis } from './axis.js'
import { ChartGroup } from './chart.js'
import { bytes, toNumber } from './format.js'

/** A small chart of live bytes; nothing if the trace has no events about blocks. */
export function chartOfLive(app: App): HTMLElement | undefined {
  const { timeline } = app.model.data
  const x = app.model.positions(timeline, app.axis)
  if (x.length === 0) return undefined
  // Each part of the run has its highest level, and the end of the run has the level of its last event.
  const values = [0, ...timeline.maxBytes.map(toNumber), toNumber(timeline.liveBytes.at(-1))]
  return new ChartGroup().chart({
    title: 'Live bytes',
    x: [app.model.start(app.axis, x[0] ?? 0), ...x, x.at(-1) ?? 0],
    series: [{ title: 'most', values, colour: 'series-0', isFilled: true }],
    xAxis: xAxis(app),
    yAxis: { title: 'live bytes', quantity: { kind: 'bytes' } },
    showY: bytes,
    marks: [{ x: peakPosition(app), title: 'peak' }],
    height: 190,
  }).element
}
