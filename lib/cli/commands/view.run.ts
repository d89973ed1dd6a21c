import { viewerPage } from '../../streams/report.js'
import { numberOf, type Arguments } from '../command.js'
import { reportJob, showReport } from '../report/report-job.js'
import { showPage, type ShowOptions } from '../show-page.js'

const MAX_PORT = 65_535

/** Runs `hf-view`. @throws UsageError */
export async function runView(args: Arguments): Promise<void> {
  const port = numberOf(args, 'port', 0, MAX_PORT) ?? 0
  const options: ShowOptions = { port, once: args.has('once'), opens: !args.has('no-browser') }
  if (args.operands.length === 0) await showPage('hf-view', viewerPage(), options)
  else await showReport(reportJob('hf-view', args), options)
}
