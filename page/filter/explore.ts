import type { ReportData } from '../../lib/transforms/report/result.js'
import { Model } from '../model.js'
import { shell } from '../shell.js'
import { numbersOf } from '../worker/event-numbers.js'
import type { Taken } from '../worker/messages.js'
import { filterPanel, type Source } from './panel.js'

/**
 * Shows a report whose trace is at hand: the reader can filter it, and all views show the part that is left.
 * @param another lets the reader open another trace, where the page can
 */
export function explore(root: HTMLElement, whole: ReportData, source: Source, another?: () => void): void {
  const show = (taken?: Taken) => {
    // A node of one tree is not one of another.
    const [view, target] = location.hash.split('?')
    if (target !== undefined) location.replace(view as string)
    const part = taken && {
      numberOf: (event: number) => numbersOf(taken.numbers, event, event)[0],
      first: whole.summary.time?.first,
    }
    shell(root, new Model(taken?.data ?? whole, part), {
      filter: {
        element: panel.element,
        add: panel.add,
      },
      ...(another !== undefined && {
        another() {
          panel.cancel()
          another()
        },
      }),
    })
  }
  const panel = filterPanel(source, whole, show)
  show()
}
