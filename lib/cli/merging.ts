import { TraceError } from '../event/error.js'
import { numberOf, UsageError, type Arguments } from './command.js'
import { WINDOW_FLAG } from './flags.js'
import { runJob, type Job } from './pipeline.js'

const MAX_WINDOW = 65_536

/** The window of `--window`, if given. @throws UsageError */
export function windowOption(args: Arguments): { window?: number } {
  const window = numberOf(args, WINDOW_FLAG.name, 0, MAX_WINDOW)
  return window === undefined ? {} : { window }
}

/**
 * Runs a command whose source is several files.
 * @throws UsageError also if they cannot be merged without other flags
 */
export async function runMergeJob(job: Job, instead: string): Promise<void> {
  try {
    await runJob(job)
  } catch (error) {
    if (!(error instanceof TraceError)) throw error
    if (error.code === 'ERR_TRACE_TOO_MANY_FILES') throw new UsageError(error.message, { cause: error })
    if (error.code === 'ERR_TRACE_NO_ORDER') throw new UsageError(`${error.message}: ${instead}`, { cause: error })
    throw error
  }
}
