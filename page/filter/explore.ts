import type { ReportData } from '../../lib/transforms/report/result.js'
import { addressOf, filterOf, parseAddress, setFilter } from '../address.js'
import { Model } from '../model.js'
import { leave, shell } from '../shell.js'
import { VIEWS } from '../target.js'
import { numberOf } from '../worker/event-numbers.js'
import { liveAnswers, type LiveAnswers } from '../worker/log.js'
import type { Criterion, Taken } from '../worker/messages.js'
import { filterPanel, type Source } from './panel.js'

/**
 * Shows a report whose trace is at hand: the reader can filter it, and all views show the part that is left.
 * @param another lets the reader open another trace, where the page can
 * @returns ends it, before something else is shown
 */
export function explore(
  root: HTMLElement,
  whole: ReportData,
  source: Source,
  { another, old }: { another?: () => void; old?: File | undefined } = {},
): () => void {
  let live: LiveAnswers | undefined
  /** The criteria of what is shown. */
  let current = '[]'
  /** The address that says the criteria which are being applied. */
  let asked: string | undefined
  let isFirst = filterOf(location.hash).length === 0
  const show = (taken?: Taken, criteria: readonly Criterion[] = []) => {
    live?.end()
    live = undefined
    setFilter(criteria)
    current = JSON.stringify(criteria)
    if (isFirst) isFirst = false
    else moveTo(asked !== undefined && JSON.stringify(filterOf(asked)) === current ? asked : undefined)
    asked = undefined
    const part = taken && {
      numberOf: (event: number) => numberOf(taken.numbers, event),
      // Of several traces, the times of a part count from its beginning.
      first: whole.summary.traces > 1 ? undefined : whole.summary.time?.first,
      hasOlder: criteria.some(([flag]) => flag === 'part'),
    }
    shell(root, new Model(taken?.data ?? whole, part), {
      filter: {
        element: panel.element,
        add: panel.add,
        live: () => {
          const { name, generator } = source
          return (live ??= liveAnswers(source.code(), () => ({
            file: source.file(),
            name,
            generator,
            criteria,
            rules: whole.suppression?.rules,
          })))
        },
      },
      ...(another !== undefined && { another }),
    })
  }
  const panel = filterPanel(source, whole, show)
  const restore = (address: string) => {
    const criteria = filterOf(address)
    if (criteria.length === 0 || JSON.stringify(criteria) === current) return
    asked = address
    panel.restore(criteria)
  }
  // The page has changed its address when this is called.
  const follow = ({ newURL }: HashChangeEvent) => restore(new URL(newURL).hash)
  const first = location.hash
  addEventListener('hashchange', follow)
  show()
  if (old !== undefined) panel.compare(old)
  else restore(first)
  return () => {
    removeEventListener('hashchange', follow)
    panel.cancel()
    live?.end()
    leave()
    // Neither the filter nor the node is one of the next trace.
    setFilter([])
    moveTo()
  }
}

/** A node of one tree is not one of another. @param asked the address that said the new filter */
function moveTo(asked?: string): void {
  const { view, target } = parseAddress(location.hash, VIEWS)
  const { node: _, ...rest } = target
  const then = asked === undefined ? undefined : parseAddress(asked, VIEWS)
  history.replaceState(null, '', addressOf(view, then?.view === view ? then.target : rest))
}
