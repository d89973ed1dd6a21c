import { viewerPage } from '../../streams/report.js'
import { numberOf, UsageError, type Arguments } from '../command.js'
import { reportJob, showReport } from '../report/report-job.js'
import { showPage, type ShowOptions } from '../show-page.js'

const MAX_PORT = 65_535

/** Runs `hf-view`. @throws UsageError */
export async function runView(args: Arguments): Promise<void> {
  const options: ShowOptions = { port: portOf(args), once: args.has('once'), opens: !args.has('no-browser') }
  if (args.operands.length === 0) await showPage('hf-view', viewerPage(), options)
  else await showReport(reportJob('hf-view', args), options)
}

function portOf(args: Arguments): number {
  const port = numberOf(args, 'port') ?? 0
  if (port > MAX_PORT) throw new UsageError(`--port must be at most ${MAX_PORT}, not ${port}`)
  return port
}
