import { UsageError, type Arguments } from '../command.js'
import { OUTPUT_FLAGS } from '../flags.js'
import { outputOf } from '../output.js'
import { reportJob, showReport, writeReport } from '../report/report-job.js'

/** Runs `hf-report`. @throws UsageError */
export async function runReport(args: Arguments): Promise<void> {
  const job = reportJob('hf-report', args)
  if (args.has('open')) {
    const other = OUTPUT_FLAGS.find(({ name }) => args.has(name))
    if (other !== undefined)
      throw new UsageError(`--open shows the report instead of writing it: not with --${other.name}`)
    await showReport(job)
    return
  }
  // A page on a terminal is useless.
  await writeReport(job, outputOf(args, [job.input], true))
}
