import type { ReportData } from '../lib/transforms/report/result.js'
import { embedded } from './load.js'
import { Model } from './model.js'
import { el } from './parts/dom.js'
import { followSystem } from './parts/theme.js'
import { shell } from './shell.js'
import { viewer } from './viewer/viewer.js'

/**
 * Shows the report in place of the tables, which are for readers without scripts. A page without a report, but with the
 * code of a worker, takes traces.
 */
async function main(): Promise<void> {
  followSystem()
  const app = document.querySelector('#app') as HTMLElement
  const tables = document.querySelector('#tables') as HTMLElement
  const worker = document.querySelector<HTMLElement>('#worker')
  const reveal = () => {
    app.hidden = false
    tables.hidden = true
  }
  try {
    const data = await embedded()
    if (data !== undefined) {
      reveal()
      shell(app, new Model(data))
    } else if (worker !== null) {
      reveal()
      const source = { code: worker.textContent ?? '', generator: worker.dataset['generator'] ?? 'heapflow' }
      const show = (report: ReportData) => shell(app, new Model(report), () => place.open())
      const place = viewer(app, source, show)
    }
  } catch (error) {
    app.hidden = false
    tables.hidden = false
    const reason = error instanceof Error ? error.message : String(error)
    app.replaceChildren(
      el('p', { class: 'note bad', attributes: { role: 'alert' } }, `The report cannot be shown: ${reason}`),
    )
  }
}

void main()
