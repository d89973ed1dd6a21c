import { readTrace } from '../../browser/read-trace.js'
import { recycle } from '../../lib/event/recycle.js'
import { TraceError } from '../../lib/event/error.js'
import { ReportCollector } from '../../lib/transforms/report/collector.js'
import type { Answer, Request } from './messages.js'

/** How many milliseconds are between two messages about progress. */
const PACE = 100
/** The maximum number of warnings; further ones are only counted. */
const MAX_WARNINGS = 5

const answer = (message: Answer) =>
  (globalThis as unknown as { postMessage(message: Answer): void }).postMessage(message)

addEventListener('message', ({ data }: MessageEvent<Request>) => void run(data))

async function run({ file, name, generator }: Request): Promise<void> {
  const notes: string[] = []
  try {
    const collector = new ReportCollector()
    const { isComplete, warnings, found } = await collect(file, collector)
    notes.push(...warnings.slice(0, MAX_WARNINGS))
    if (warnings.length > MAX_WARNINGS) notes.push(`There are ${warnings.length - MAX_WARNINGS} more warnings.`)
    if (!found) throw new Error('the trace has no events')
    const data = collector.finish(isComplete).data({ name, generator })
    answer({ kind: 'report', data: { ...data, notes: [...data.notes, ...notes] } })
  } catch (error) {
    answer({ kind: 'error', message: error instanceof Error ? error.message : String(error) })
  }
}

/** Reads a trace; a truncated one is read up to its end. @throws if nothing could be read */
async function collect(
  file: Blob,
  collector: ReportCollector,
): Promise<{ isComplete: boolean; warnings: string[]; found: boolean }> {
  const warnings: string[] = []
  let [bytes, events, format, next, found] = [0, 0, '', 0, false]
  const source = readTrace(file, {
    onFormat: ({ title }) => (format = title),
    onWarning: (text) => warnings.push(text),
    onProgress: (read) => (bytes = read),
  })
  try {
    for await (const batch of source) {
      found = true
      collector.add(batch)
      events += batch.count
      recycle(batch)
      if (performance.now() < next) continue
      next = performance.now() + PACE
      answer({ kind: 'progress', bytes, events, format })
    }
  } catch (error) {
    if (!(error instanceof TraceError) || events === 0) throw error
    return { isComplete: false, warnings: [...warnings, error.message], found }
  }
  return { isComplete: true, warnings, found }
}
