import type { App } from '../app.js'
import { choice } from './dom.js'
import { duration, grouped, secondsOf } from './format.js'
import type { Quantity } from './ticks.js'

/** An axis of a chart: what it measures, and its title. */
export interface AxisOptions {
  readonly title: string
  readonly quantity: Quantity
}

/** The x axis that charts share. */
export interface XAxis extends AxisOptions {
  /** A position as text. @param step a difference between two positions that must be visible */
  readonly text: (x: number, step?: number) => string
}

/** The x axis of charts over the run: the time since its begin, or numbers of events. */
export function xAxis(app: App): XAxis {
  const { model, axis } = app
  const text = (x: number, step?: number) => atText(app, x, step)
  if (axis === 'event') return { title: 'event', quantity: { kind: 'count' }, text }
  const seconds = secondsOf(model.unit)
  const title = seconds === undefined ? "time since the first event, in the trace's unit" : 'time since the first event'
  return { title, quantity: { kind: 'duration', seconds }, text }
}

/** The switch between events and time on the x axis; nothing if the trace has no times. */
export function axisSwitch(app: App): HTMLElement | undefined {
  if (!app.model.isTimed) return undefined
  const { element, set } = choice(
    'x axis',
    [
      ['time', 'time'],
      ['event', 'events'],
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
  const { peakBytes, peakTime } = model.data.summary
  return axis === 'event' || peakTime === undefined
    ? model.eventNumber(peakBytes.event)
    : Number(peakTime) + model.timeOffset
}
