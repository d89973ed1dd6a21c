import type { TreeMetric } from '../lib/transforms/report/result.js'
import type { Axis, Model } from './model.js'

/** The views, in the order of the navigation. */
export const VIEWS = [
  'overview',
  'timeline',
  'sites',
  'flame',
  'leaks',
  'peak',
  'churn',
  'threads',
  'addresses',
  'problems',
  'comparison',
] as const
/** See `VIEWS`. */
export type ViewName = (typeof VIEWS)[number]

/** What a view is opened at. It is part of the page's address, so the browser's history has it. */
export interface Target {
  /** A node of the tree of stacks. */
  node?: number
  metric?: TreeMetric
}

/** What views can ask of the page. */
export interface App {
  readonly model: Model
  readonly axis: Axis
  open(view: ViewName, target?: Target): void
  /** Changes the x axis of all charts. */
  setAxis(axis: Axis): void
}

/** A view that was made. */
export interface Mounted {
  readonly element: HTMLElement
  /** Called when it becomes visible. */
  show?(target: Target): void
  /** What the key for searching focuses. */
  readonly search?: HTMLInputElement
}

/** A view: what the navigation calls it, and how it is made. */
export interface View {
  readonly title: string
  /** How many things it has, for the navigation; absent where that says nothing. */
  count?(model: Model): number
  /** Whether there is such a view for this report. */
  has?(model: Model): boolean
  mount(app: App): Mounted
}
