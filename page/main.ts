import type { ReportData } from '../lib/transforms/report/result.js'
import { embedded } from './load.js'
import { Model } from './model.js'
import { shell } from './shell.js'
import { start } from './start.js'

/* The page of a report without the trace. */

void start(async (app, reveal) => {
  const data = await embedded<ReportData>()
  if (data === undefined) return
  reveal()
  shell(app, new Model(data))
})
