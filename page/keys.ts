import { button, el, isForBrowser } from './parts/dom.js'
import { switchTheme } from './parts/theme.js'
import type { ViewName } from './app.js'

/** The actions of the page's keys. */
export interface KeyActions {
  /** The views that digits open. */
  readonly views: readonly ViewName[]
  open(view: ViewName): void
  help(): void
  /** Focuses a search, where there is one. */
  search?(): void
}

/** Listens to the keys that work everywhere, except where text is typed. @param signal ends it */
export function listenToKeys(signal: AbortSignal, { views, open, help: showHelp, search }: KeyActions): void {
  const listen = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement
    if (isForBrowser(event)) return
    if (target.matches('input, select, textarea') || document.querySelector('dialog[open]') !== null) return
    const digit = /^\d$/.test(event.key) ? (Number(event.key) + 9) % 10 : -1
    const view = views[digit]
    if (event.key === '?') showHelp()
    else if (event.key === '/' && search !== undefined) search()
    else if (event.key === 't') switchTheme()
    else if (view !== undefined) open(view)
    else return
    event.preventDefault()
  }
  document.addEventListener('keydown', listen, { signal })
}

/** A key, and what it does. */
export type KeyHelp = readonly [key: string, what: string]

/** A dialog that lists the keys of a report. @param titles the titles of the views, in order */
export function help(titles: readonly string[]): HTMLDialogElement {
  return keyDialog([
    ...titles.slice(0, 10).map((title, n) => [String((n + 1) % 10), title] as const),
    ['/', 'search'],
    ['t', 'light or dark'],
    ['?', 'this list'],
    ['↑ ↓ Home End', 'in a table: move between rows'],
    ['Enter', 'in a table: show the row in the flame graph'],
    ['c', 'in a table: copy the row'],
    ['↑ ↓ ← →', 'in the flame graph: caller, callee, beside'],
    ['Enter', 'in the flame graph: zoom'],
    ['Backspace, Esc', 'in the flame graph: zoom out, to all'],
    ['↑ ↓ ← → Enter', 'in the heat map: move, choose a cell'],
    ['+ − ← → 0', 'in the timeline: zoom, move, show all'],
    ['Shift ← →', 'in the timeline: move the cursor'],
    ['Enter', 'in the timeline: the live set there; with Shift: what changed until there'],
  ])
}

/** A dialog that lists keys. */
export function keyDialog(rows: readonly KeyHelp[]): HTMLDialogElement {
  const dialog = el(
    'dialog',
    { attributes: { 'aria-label': 'keys' } },
    el('h2', {}, 'Keys'),
    // What has the focus is scrolled to.
    button('Close', () => dialog.close()),
    el(
      'table',
      {},
      el('tbody', {}, ...rows.map(([key, what]) => el('tr', {}, el('td', {}, el('kbd', {}, key)), el('td', {}, what)))),
    ),
  )
  return dialog
}
