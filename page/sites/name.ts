import { el } from '../parts/dom.js'
import type { NamedStack } from './rows.js'

const SUPPRESSED = 'what it leaks is known: rules leave it out of the leaks'

/** A site in a cell: the innermost frame of the program's own, its place, and the callers in one line. */
export function siteName({ stack, name, place, callers, isSuppressed }: NamedStack): HTMLElement {
  return el(
    'div',
    { class: 'site', title: stack.slice(0, 40).join('\n') || name },
    el(
      'div',
      {},
      el('bdi', { class: 'name' }, name),
      ...(place === undefined ? [] : [' ', el('bdi', { class: 'place' }, place)]),
      ...(isSuppressed === true ? [' ', el('span', { class: 'mark', title: SUPPRESSED }, 'suppressed')] : []),
    ),
    callers.length === 0
      ? undefined
      : el('div', { class: 'callers' }, ...callers.flatMap((caller) => ['← ', el('bdi', {}, caller), ' '])),
  )
}
