import { el } from '../parts/dom.js'

/** The stack of a site in a cell: the innermost frame, its place, and the callers in one line. */
export function siteName(stack: readonly string[], name: string, place: string | undefined): HTMLElement {
  const callers = stack.slice(1, 9).join(' ← ')
  return el(
    'div',
    { class: 'site', title: stack.slice(0, 40).join('\n') || name },
    el(
      'div',
      { class: 'clip' },
      el('span', { class: 'name' }, name),
      place === undefined ? undefined : el('span', { class: 'place' }, ` ${place}`),
    ),
    callers === '' ? undefined : el('div', { class: 'clip callers' }, `← ${callers}`),
  )
}

/** The stack of a site in few words: the innermost frames. */
export function siteLabel(stack: readonly string[], name: string): string {
  const callers = stack.slice(1, 3).map((text) => text.replace(/ \(.*$/, ''))
  const text = [name, ...callers].join(' ← ')
  return text.length > 70 ? `${text.slice(0, 69)}…` : text
}
