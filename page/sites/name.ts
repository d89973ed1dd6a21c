import { el } from '../parts/dom.js'
import type { NamedStack } from './rows.js'

/** A site in a cell: the innermost frame of the program's own, its place, and the callers in one line. */
export function siteName({ stack, name, place, callers }: NamedStack): HTMLElement {
  return el(
    'div',
    { class: 'site', title: stack.slice(0, 40).join('\n') || name },
    el(
      'div',
      {},
      el('bdi', { class: 'name' }, name),
      ...(place === undefined ? [] : [' ', el('bdi', { class: 'place' }, place)]),
    ),
    callers.length === 0
      ? undefined
      : el('div', { class: 'callers' }, ...callers.flatMap((caller) => ['← ', el('bdi', {}, caller), ' '])),
  )
}
