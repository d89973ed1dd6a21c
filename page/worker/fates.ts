import type { EventBatch } from '../../lib/event/batch.js'
import { TraceError } from '../../lib/event/error.js'
import { recycle } from '../../lib/event/recycle.js'
import type { Fate, FateSurvey } from '../../lib/transforms/fates/survey.js'

/** The result of the first of two passes. A fault in the trace is found by the second, after everything before it. */
export async function fatesOf(survey: FateSurvey, read: () => AsyncIterable<EventBatch>): Promise<Fate[]> {
  let fault: TraceError | undefined
  try {
    for await (const batch of read()) {
      survey.add(batch)
      recycle(batch)
      if (survey.isDone) break
    }
  } catch (error) {
    if (!(error instanceof TraceError)) throw error
    fault = error
  }
  try {
    return survey.finish()
  } catch (error) {
    throw fault ?? error
  }
}
