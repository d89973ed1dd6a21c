import { addAbortSignal, type Readable } from 'node:stream'
import type { EventBatch } from '../event/batch.js'
import { TraceError } from '../event/error.js'
import { FORMAT } from '../event/format.js'
import { checkOptions, OBJECT, SIGNAL, type OptionNames } from '../event/options.js'
import { recycle } from '../event/recycle.js'
import { FateSurvey, type Fate } from '../transforms/fates/survey.js'
import { Filter, neededEvents, needsSurvey, type FilterOptions } from '../transforms/filter.js'
import { runStage } from '../reading/run-stage.js'
import { givesEvents } from './gives-events.js'
import { TwoPasses } from './io/passes.js'
import { filePath, readTrace, type OpenOptions, type OpenTrace } from './io/open-trace.js'
import type { CompactPart } from './io/compact-file.js'
import { openInput } from './io/stdio.js'
import type { MergedStream } from './merge.js'
import { sourceStream } from './source-stream.js'

/** Options for how `filterFile` reads its input, and where it copies an input that can be read only once. */
export interface FilterFileOptions extends Pick<OpenOptions, 'decode' | 'format' | 'signal'> {
  /** The folder for a temporary file. Default: the system's. */
  folder?: string
}

const OPTIONS: OptionNames<FilterFileOptions> = { decode: OBJECT, folder: 'string', format: FORMAT, signal: SIGNAL }

/**
 * A Readable of `EventBatch` objects: those events of a file, of any format, that meet some criteria. It accepts all
 * criteria of `filter`, and criteria on the later fate of blocks, for which it reads the file twice: `leaked`,
 * `temporary` and `liveAt`. An input that can be read only once, such as a pipe, is copied to a temporary file first.
 * Of a compact trace with checkpoints, only what `events` needs is read, unless `invert` is given.
 *
 * Emits `warning` with a text, and `events` with the number of events that were read. If the input fails, the events
 * before the fault are filtered as if the trace ended there, followed by the error.
 *
 * @param file a file, or `-` for standard input
 * @throws RangeError for unknown or invalid options
 *
 * @example
 * await pipeline(filterFile('app.mtrc', { leaked: true }), ndjson.encode(), createWriteStream('leaks.ndjson'))
 */
export function filterFile(
  file: string | URL,
  options: FilterOptions = {},
  reading: FilterFileOptions = {},
): MergedStream {
  checkOptions(reading, OPTIONS, 'filterFile')
  const path = filePath(file)
  const { signal, folder, ...decoding } = reading
  // Invalid options are errors of this call.
  let filter = new Filter(options, [])
  const criteria = { ...options }
  const hasTwoPasses = needsSurvey(criteria)
  const first = hasTwoPasses ? new FateSurvey(criteria) : undefined
  const passes = new TwoPasses(path, folder)
  let input: Readable | undefined
  let trace: OpenTrace | undefined
  /** The number of bytes read to find a part of the file. */
  let seekBytes = 0
  const open = () => (input = hasTwoPasses ? passes.open() : openInput(path))

  const survey = async (fates: FateSurvey): Promise<Fate[]> => {
    let fault: unknown
    try {
      trace = readTrace(path, open, { ...decoding, recycle: true }, true)
      for await (const batch of trace) {
        fates.add(batch)
        recycle(batch)
        if (fates.isDone) break
      }
    } catch (error) {
      // The second pass reaches the same fault, after everything before it.
      if (!(error instanceof TraceError)) throw error
      fault = error
    }
    try {
      return fates.finish()
    } catch (error) {
      throw fault ?? error
    }
  }

  const run = async function* (): AsyncGenerator<EventBatch> {
    if (first !== undefined) {
      await passes.prepare()
      filter = new Filter(criteria, await survey(first))
    }
    const needed = neededEvents(criteria)
    // A compact trace with checkpoints is read from the nearest one.
    const part = needed && (await import('./io/compact-file.js')).compactPart(path, needed.first, warn)
    if (part !== undefined && needed !== undefined) {
      filter = new Filter(criteria, undefined, part.before)
      yield* runStage(filter, eventsUntil(part, needed.end), warn)
      return
    }
    trace = readTrace(path, open, decoding, true)
    trace.on('warning', warn).on('events', (count: number) => stream.emit('events', count))
    yield* runStage(filter, trace.batches, warn)
    await passes.close()
  }
  /** The events of a part, up to the batch with the last one that is needed. */
  const eventsUntil = async function* (part: CompactPart, end: number): AsyncGenerator<EventBatch> {
    seekBytes = part.bytesRead
    const source = part.open()
    input = source
    let events = part.before
    for await (const batch of part.events(source, warn)) {
      stream.emit('events', batch.count)
      events += batch.count
      yield batch
      if (events >= end) return
    }
  }
  const warn = (text: string) => void stream.emit('warning', text)
  const stream = sourceStream(run, () => {
    input?.destroy()
    void trace?.close()
    void passes.close()
  })
  givesEvents(stream, 'filterFile()')
  if (signal !== undefined) addAbortSignal(signal, stream)
  const bytesRead = () =>
    hasTwoPasses ? passes.bytesRead : seekBytes + ((input as { bytesRead?: number } | undefined)?.bytesRead ?? 0)
  return Object.assign(stream, { bytesRead }) as MergedStream
}
