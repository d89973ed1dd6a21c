import type { TreeMetric } from '../lib/transforms/report/result.js'

/** The views, in the order of the navigation. */
export const VIEWS = [
  'overview',
  'timeline',
  'sites',
  'flame',
  'functions',
  'leaks',
  'peak',
  'churn',
  'threads',
  'addresses',
  'problems',
  'comparison',
  'allocators',
] as const
/** See `VIEWS`. */
export type ViewName = (typeof VIEWS)[number]

/** What the rows of the table of functions can be. */
export const GROUPS = ['function', 'file', 'module'] as const
/** See `GROUPS`. */
export type By = (typeof GROUPS)[number]

/** The position at which a view is opened. It is part of the page's address, and so of the browser's history. */
export interface Target {
  /** A node of the tree of stacks. */
  node?: number
  metric?: TreeMetric
  /** The name of a function, or of a file or a module, if these have the rows. */
  function?: string
  /** What has a row in the table of functions. Default: `function`. */
  by?: By
  /** Regular expressions for frames of the flame graph. */
  focus?: string
  hide?: string
  collapse?: string
  /** The flame graph is inverted. */
  inverted?: boolean
}
