import { el } from '../parts/dom.js'
import type { Column } from '../parts/table.js'
import type { NamedStack } from './rows.js'

/** The column of sites; files have their whole stacks. */
export const SITE: Column<NamedStack> = {
  title: 'Site',
  isText: true,
  key: ({ name }) => name,
  cell: siteName,
  file: (site) => stackText(site, site.name),
}

/** The whole stack of a site, as files have it. @param none what they have without one */
export function stackText(site: NamedStack | undefined, none: string): string {
  return site === undefined || site.stack.length === 0 ? none : site.stack.join(' < ')
}

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
