import { TraceError } from '../../lib/event/error.js'
import type { EventBatch } from '../../lib/event/batch.js'
import { plural } from '../../lib/event/message-text.js'
import { parseSuppressions } from '../../lib/names/suppressions.js'
import { withFlag } from '../../lib/text/last-line.js'
import { ProfileCollector } from '../../lib/transforms/profile/collector.js'
import { compareProfiles } from '../../lib/transforms/profile/difference.js'
import type { Profile } from '../../lib/transforms/profile/profile.js'
import { suppressLeaks } from '../../lib/transforms/profile/suppress.js'
import { ReportCollector } from '../../lib/transforms/report/collector.js'
import { LiveLog } from '../../lib/transforms/report/live-log.js'
import type { Answer, Question, Request, Taken } from './messages.js'
import { partOf } from './part.js'

/** The number of milliseconds between two messages about progress. */
const PACE = 100
/** The maximum number of warnings; further ones are only counted. */
const MAX_WARNINGS = 5

/** What a reader of traces calls. */
export interface Listener {
  readonly onFormat: (format: { readonly title: string }) => void
  readonly onWarning: (text: string) => void
  readonly onProgress: (bytes: number) => void
}

/** Reads a trace. */
export type Read = (file: Blob, listener: Listener) => AsyncIterable<EventBatch>

/** What a worker has of its page. */
interface WorkerScope {
  postMessage(message: Answer): void
  addEventListener(type: 'message', listener: (event: { readonly data: Request | Question }) => void): void
}

/** Has this worker make the reports and logs that the page asks for. @param read reads the traces */
export function serve(read: Read): void {
  const scope = globalThis as unknown as WorkerScope
  const answer = (message: Answer) => scope.postMessage(message)
  let log: LiveLog | undefined
  const run = async (request: Request | Question) => {
    try {
      if ('question' in request) {
        const { question, to, from } = request
        if (log === undefined) throw new Error('there is no log to answer from')
        answer({ kind: 'live', question, sites: log.at(to, from) })
      } else if (request.task === 'log') {
        log = await takeLog(request, read, answer)
        answer({ kind: 'log', events: log.events })
      } else answer({ kind: 'report', ...(await takeReport(request, read, answer)) })
    } catch (error) {
      answer({ kind: 'error', message: messageOf(error) })
    }
  }
  scope.addEventListener('message', ({ data }) => void run(data))
}

function messageOf(error: unknown): string {
  return withFlag(error instanceof Error ? error.message : String(error), 'hf-convert --last-line')
}

/** The profile of another trace, up to where it can be read. @param warn is called with why that is not its end */
async function profileOf(
  { file, name, criteria, rules }: Request,
  read: Read,
  warn: (text: string) => void,
): Promise<Profile> {
  const collector = new ProfileCollector()
  const listener: Listener = { onFormat: () => {}, onWarning: () => {}, onProgress: () => {} }
  const part = partOf(
    criteria,
    () => read(file, listener),
    () => {},
  )
  let [events, isComplete] = [0, true]
  try {
    for await (const batch of part.batches()) {
      collector.add(batch)
      events += batch.count
    }
  } catch (error) {
    const message = `${name}: ${messageOf(error)}`
    if (!(error instanceof TraceError) || events === 0) throw new Error(message, { cause: error })
    isComplete = false
    warn(message)
  }
  const profile = collector.finish(isComplete)
  return rules === undefined ? profile : suppressLeaks(profile, parseSuppressions(rules)).profile
}

/** The log of the live set of a trace, or of a part of it, up to where it can be read. */
async function takeLog(request: Request, read: Read, answer: (message: Answer) => void): Promise<LiveLog> {
  const { rules } = request
  const log = new LiveLog(rules === undefined ? undefined : parseSuppressions(rules))
  let [bytes, format, next] = [0, '', 0]
  const listener: Listener = {
    onFormat: ({ title }) => (format = title),
    onWarning: () => {},
    onProgress: (of) => (bytes = of),
  }
  const part = partOf(
    request.criteria,
    () => read(request.file, listener),
    () => {},
  )
  try {
    for await (const batch of part.batches()) {
      log.add(batch)
      if (performance.now() < next) continue
      next = performance.now() + PACE
      answer({ kind: 'progress', bytes, events: log.events, format })
    }
  } catch (error) {
    if (!(error instanceof TraceError) || log.events === 0) throw error
  }
  return log
}

/**
 * The report of a trace, or of a part of it; a truncated one is read up to its end.
 * @param answer is called with how far it is
 * @throws Error if nothing could be read, or if there cannot be such criteria
 */
export async function takeReport(request: Request, read: Read, answer: (message: Answer) => void): Promise<Taken> {
  const { file, name, generator, criteria, old, rules } = request
  const warnings = new Set<string>()
  const warn = (text: string) => void warnings.add(text)
  const before = old === undefined ? undefined : await profileOf({ ...request, ...old }, read, warn)
  const collector = new ReportCollector()
  let [bytes, events, format, next, found, isComplete] = [0, 0, '', 0, false, true]
  const listener: Listener = {
    onFormat: ({ title }) => (format = title),
    onWarning: warn,
    onProgress: (of) => (bytes = of),
  }
  const counted = async function* (): AsyncGenerator<EventBatch> {
    for await (const batch of read(file, listener)) {
      found = true
      events += batch.count
      yield batch
      if (performance.now() < next) continue
      next = performance.now() + PACE
      answer({ kind: 'progress', bytes, events, format })
    }
  }
  const part = partOf(
    criteria,
    () => {
      events = 0
      return counted()
    },
    warn,
  )
  try {
    for await (const batch of part.batches()) collector.add(batch)
  } catch (error) {
    if (!(error instanceof TraceError) || events === 0) throw error
    isComplete = false
    warn(messageOf(error))
  }
  if (!found) throw new Error('the trace has no events')
  const notes = [...warnings].slice(0, MAX_WARNINGS)
  const more = warnings.size - MAX_WARNINGS
  if (more > 0) notes.push(`There ${more === 1 ? 'is' : 'are'} ${plural(more, 'more warning')}.`)
  const report = collector.finish(isComplete, rules === undefined ? undefined : parseSuppressions(rules))
  const compared = before && {
    name: old?.name ?? '',
    difference: compareProfiles(before, report.profile),
    statistics: before.statistics,
  }
  const data = report.data({ name, generator, ...(compared !== undefined && { compared }) })
  if (data.summary.events === 0) notes.unshift('No event meets the criteria.')
  return { data: { ...data, notes: [...data.notes, ...notes] }, numbers: part.numbers.result }
}
