import type { ReportData } from '../lib/transforms/report/result.js'
import { explore } from './filter/explore.js'
import { embedded, packedBlob, packedText } from './load.js'
import { start } from './start.js'
import { viewer } from './viewer/viewer.js'

/* The page that makes reports itself, in a worker: of the trace that it has in it, or of traces that it is given. */

void start(async (app, reveal) => {
  let text: Promise<string> | undefined
  const code = () => (text ??= packedText('worker'))
  const data = await embedded<ReportData>()
  reveal()
  if (data !== undefined) {
    const { name, generator } = data
    let trace: Blob | undefined
    const file = () => (trace ??= packedBlob('report-trace'))
    explore(app, data, { file, code, name, generator, isEmbedded: true })
    return
  }
  const { generator = 'heapflow' } = (document.querySelector('#worker') as HTMLElement).dataset
  const place = viewer(app, { code, generator }, (report, file, old) =>
    explore(
      app,
      report,
      { file: () => file, code, name: file.name, generator, isEmbedded: false },
      { another: () => place.open(), old },
    ),
  )
})
