import type { Target, ViewName } from './target.js'
import type { Axis, Model } from './model.js'
import type { LiveAnswers } from './worker/log.js'
import type { Criterion } from './worker/messages.js'

export { VIEWS, type Target, type ViewName } from './target.js'

/** Where the page has the trace at hand: what views can do to filter it. */
export interface TraceFilter {
  /** The form. */
  readonly element: HTMLElement
  /** Enters values of some fields, in place of those that they have, and applies them. */
  add(criteria: readonly Criterion[]): void
  /** The live set at moments of what is shown. The first call reads the trace. */
  readonly live: () => LiveAnswers
}

/** The functions of the page for views. */
export interface App {
  readonly filter?: TraceFilter
  readonly model: Model
  readonly axis: Axis
  open(view: ViewName, target?: Target): void
  /** Notes a position in the page's address, without opening it. */
  note(view: ViewName, target: Target): void
  /** Changes the x axis of all charts. */
  setAxis(axis: Axis): void
}

/** A view that was made. */
export interface Mounted {
  readonly element: HTMLElement
  /** Called when it becomes visible. */
  show?(target: Target): void
  /** The element that the search key focuses. */
  readonly search?: HTMLInputElement
}

/** A view: its name in the navigation, and the function that creates it. */
export interface View {
  readonly title: string
  /** The number of its items, for the navigation; absent if meaningless. */
  count?(model: Model): number
  /** Whether there is such a view for this report. */
  has?(model: Model): boolean
  mount(app: App): Mounted
}
