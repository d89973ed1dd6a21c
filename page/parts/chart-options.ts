import type { AxisOptions, XAxis } from './axis.js'
import type { Mark } from './mark-titles.js'

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
  /** Drawn with gaps, so that it differs from others without its colour. */
  readonly isDashed?: boolean
}

/** What a chart shows. */
export interface ChartOptions {
  readonly title: string
  readonly x: readonly number[]
  readonly series: readonly Series[]
  /** Pairs of series between which the area is filled, by their numbers from 0. */
  readonly bands?: readonly (readonly [number, number])[]
  readonly xAxis: XAxis
  readonly yAxis: AxisOptions
  /** A value in the legend. */
  readonly showY: (y: number) => string
  /** The position of a vertical line, and its meaning. */
  readonly marks?: readonly Mark[]
  readonly height?: number
  /** Areas are on top of each other: they have full colours, lines between them, and the numbers of the legend. */
  readonly isStacked?: boolean
  /** The text of the legend for a series at an index, if not the drawn value. */
  readonly legend?: (series: number, index: number) => string
}
