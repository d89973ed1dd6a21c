import type { ReportData } from '../../lib/transforms/report/result.js'
import { addressOf, filterOf, parseAddress, setFilter } from '../address.js'
import { Model } from '../model.js'
import { leave, shell } from '../shell.js'
import { VIEWS } from '../target.js'
import { numberOf } from '../worker/event-numbers.js'
import { liveAnswers, type LiveAnswers } from '../worker/log.js'
import type { Criterion, Taken } from '../worker/messages.js'
import { beginTrace, isWritten, writeAddress } from '../written-address.js'
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
  /** The criteria of what is shown; undefined until something is. */
  let current: string | undefined
  /** The address that says the criteria which are being applied. */
  let asked: string | undefined
  let isFirst = filterOf(location.hash).length === 0
  const show = (taken?: Taken, criteria: readonly Criterion[] = []) => {
    live?.end()
    live = undefined
    setFilter(criteria)
    const next = JSON.stringify(criteria)
    if (isFirst) isFirst = false
    else if (asked !== undefined && JSON.stringify(filterOf(asked)) === next) moveTo(asked)
    else moveTo(undefined, current !== undefined && current !== next)
    current = next
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
    if (JSON.stringify(criteria) === current) return
    asked = address
    panel.restore(criteria)
  }
  // The page has changed its address when this is called.
  const follow = ({ newURL }: HashChangeEvent) => {
    const { hash } = new URL(newURL)
    // A link to a view says no filter, and keeps that of the page.
    if (filterOf(hash).length > 0 || isWritten()) restore(hash)
  }
  const first = location.hash
  addEventListener('hashchange', follow)
  beginTrace()
  show()
  if (old !== undefined) panel.compare(old)
  else if (filterOf(first).length > 0) restore(first)
  return () => {
    removeEventListener('hashchange', follow)
    panel.cancel()
    live?.end()
    leave()
    // Neither the filter nor the node is one of the next trace.
    beginTrace()
    moveTo()
  }
}

/**
 * A node of one tree is not one of another.
 * @param asked the address that said the new filter
 * @param isStep whether the way back leads to what was shown before
 */
function moveTo(asked?: string, isStep = false): void {
  const { view, target } = parseAddress(location.hash, VIEWS)
  const { node: _, ...rest } = target
  const then = asked === undefined ? undefined : parseAddress(asked, VIEWS)
  writeAddress(addressOf(view, then?.view === view ? then.target : rest), isStep)
}
