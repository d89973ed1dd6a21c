import type { App } from '../app.js'
import { choice } from './dom.js'
import { duration, grouped } from './format.js'

/** The switch between events and time on the x axis; nothing if the trace has no times. */
export function axisSwitch(app: App): HTMLElement | undefined {
  if (!app.model.isTimed) return undefined
  const { element, set } = choice(
    'x axis',
    [
      ['event', 'events'],
      ['time', 'time'],
    ],
    (axis) => app.setAxis(axis),
  )
  set(app.axis)
  return element
}

/** A position on the x axis as text. @param step a difference between two positions that must be visible */
export function atText({ model, axis }: App, x: number, step?: number): string {
  return axis === 'time' ? duration(x, model.unit, step) : grouped(Math.round(x))
}

/** The position of the peak on the x axis. */
export function peakPosition({ model, axis }: App): number {
  const { peakBytes, time } = model.data.summary
  if (axis === 'event' || peakBytes.time === undefined || time === undefined) return peakBytes.event
  return Number(BigInt(peakBytes.time) - BigInt(time.first))
}
