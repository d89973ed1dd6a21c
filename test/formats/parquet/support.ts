import type { TraceEvent } from '../../../lib/event/batch.js'
import { TraceError } from '../../../lib/event/error.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { readParquet } from '../../../lib/streams/io/parquet-file.js'

/** What a file holds. */
export interface Found {
  events: TraceEvent[]
  headers: TraceHeader[]
  warnings: string[]
  error?: TraceError
}

/** Reads a Parquet file. @throws anything but a TraceError, which is returned */
export async function readEvents(path: string): Promise<Found> {
  const found: Found = { events: [], headers: [], warnings: [] }
  try {
    for await (const batch of readParquet(path, (text) => found.warnings.push(text))) {
      if (found.headers.at(-1) !== batch.header) found.headers.push(batch.header)
      found.events.push(...batch)
    }
  } catch (error) {
    if (!(error instanceof TraceError)) throw error
    found.error = error
  }
  return found
}
