import type { View } from '../app.js'
import { el } from '../parts/dom.js'
import { siteTable } from '../sites/table.js'

/** All sites with all figures. */
export const sites: View = {
  title: 'Sites',
  count: ({ data }) => data.summary.siteCount,
  mount(app) {
    const { allocated } = app.model.data.summary
    const { element, input } = siteTable(app, {
      columns: [
        'allocatedBytes',
        'share',
        'allocatedBlocks',
        'peakBytes',
        'endBytes',
        'endBlocks',
        'suppressedBytes',
        'ownPeakBytes',
        'temporaryBlocks',
        'foreignFrees',
        'lifetime',
        'wastedBytes',
        'spark',
      ],
      by: 'allocatedBytes',
      whole: allocated.bytes,
      empty: 'No site matches. A trace without allocations has none.',
    })
    const lead =
      'Where blocks were allocated: the function, and its callers below it. Click a row to see it in the flame graph.'
    return { element: el('section', {}, el('p', { class: 'lead' }, lead), element), search: input }
  },
}
