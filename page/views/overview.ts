import type { Integer } from '../../lib/transforms/report/result.js'
import type { App, View, ViewName } from '../app.js'
import { button, el } from '../parts/dom.js'
import { bytes, exactBytes, toNumber } from '../parts/format.js'
import { chartOfLive } from '../parts/live-chart.js'
import { siteName } from '../sites/name.js'
import { siteRows, type SiteRow } from '../sites/rows.js'
import { cards, type Card } from './cards.js'

const TOP = 5

/** The main figures, each with a link to its view. */
export const overview: View = {
  title: 'Overview',
  mount(app) {
    const { data } = app.model
    const rows = siteRows(app.model)
    const top = (title: string, view: ViewName, values: readonly Integer[], empty: string) =>
      list(app, { title, view, values, empty }, rows)
    return {
      element: el(
        'section',
        {},
        ...data.notes.map((note) => el('p', { class: 'note' }, note)),
        el('div', { class: 'cards' }, ...cards(app.model).map((card) => cardElement(card))),
        chartOfLive(app),
        el(
          'div',
          { class: 'columns' },
          top('Most at the peak', 'peak', data.sites.peakBytes, 'Nothing was live.'),
          top('Most live at the end', 'leaks', data.sites.endBytes, 'Nothing is live at the end.'),
          top('Most allocated', 'sites', data.sites.allocatedBytes, 'Nothing was allocated.'),
        ),
        data.omitted.length === 0
          ? undefined
          : el(
              'div',
              { class: 'block omitted' },
              el('h3', {}, 'Left out of this report'),
              el('ul', {}, ...data.omitted.map((text) => el('li', {}, text))),
            ),
      ),
    }
  },
}

function cardElement({ view, figure, title, value, exact, detail, isBad }: Card): HTMLElement {
  return el(
    'a',
    {
      class: isBad === true ? 'card bad' : 'card',
      title: exact,
      attributes: { href: `#${view}`, 'data-figure': figure },
    },
    el('span', { class: 'what' }, title),
    el('span', { class: 'value' }, value),
    el('span', { class: 'details' }, detail),
  )
}

/** The sites with the largest values of a figure. */
function list(
  app: App,
  { title, view, values, empty }: { title: string; view: ViewName; values: readonly Integer[]; empty: string },
  rows: readonly SiteRow[],
): HTMLElement {
  const of = ({ site }: SiteRow) => toNumber(values[site])
  const most = rows
    .filter((row) => of(row) > 0 && row.stack.length > 0)
    .toSorted((a, b) => of(b) - of(a))
    .slice(0, TOP)
  return el(
    'div',
    { class: 'block' },
    el('h3', {}, title),
    most.length === 0
      ? el('p', { class: 'none' }, empty)
      : el(
          'ol',
          { class: 'top' },
          ...most.map((row) =>
            el(
              'li',
              {},
              siteName(row),
              el('span', { class: 'amount', title: exactBytes(values[row.site] ?? 0) }, bytes(values[row.site] ?? 0)),
            ),
          ),
        ),
    button('More', () => app.open(view), { class: 'link', attributes: { 'aria-label': `more: ${title}` } }),
  )
}
