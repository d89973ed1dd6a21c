import { EARLY_END_NOTE } from '../../event/early-end.js'
import { lostWarning } from '../../event/lost-events.js'
import { many } from '../../event/message-text.js'
import { weightNote } from '../../event/weights.js'
import type { Statistics } from '../statistics/result.js'
import { TABLE_NAMES } from '../statistics/key-counts.js'
import { integer, plain, type Calendar } from './plain.js'
import type { ReportSummary, ReportTimeline } from './result.js'
import { actingThreads } from '../statistics/thread-table.js'

/** The statistics without their tables. @param siteCount the number of stacks */
export function summaryOf(statistics: Statistics, siteCount: number, calendar: Calendar): ReportSummary {
  const { sites: _sites, threads, processes, cpus, timeline: _timeline, sizes, ...figures } = statistics
  const { exact: _exact, others: _others, ...sizeFigures } = sizes
  const peakTime = calendar.since(figures.peakBytes.event, figures.peakBytes.time)
  return {
    ...plain({ ...figures, sizes: sizeFigures }),
    ...(peakTime !== undefined && { peakTime }),
    siteCount,
    threadCount: actingThreads(threads).length,
    processCount: processes.length,
    cpuCount: cpus.length,
  }
}

export function timelineOf({ timeline, residentSet }: Statistics, calendar: Calendar): ReportTimeline {
  return {
    ...calendar.moments(
      timeline.map(({ event }) => event),
      timeline.map(({ time }) => time),
    ),
    liveBytes: timeline.map(({ live }) => integer(live.bytes)),
    liveBlocks: timeline.map(({ live }) => live.blocks),
    minBytes: timeline.map(({ minBytes }) => integer(minBytes)),
    maxBytes: timeline.map(({ maxBytes }) => integer(maxBytes)),
    minBlocks: timeline.map(({ minBlocks }) => minBlocks),
    maxBlocks: timeline.map(({ maxBlocks }) => maxBlocks),
    allocations: timeline.map(({ allocated }) => allocated.blocks),
    allocatedBytes: timeline.map(({ allocated }) => integer(allocated.bytes)),
    frees: timeline.map(({ frees }) => frees),
    ...(residentSet && {
      resident: timeline.map(({ resident }) => (resident === undefined ? null : integer(resident))),
    }),
  }
}

/** Notes for readers about a trace, as sentences. */
export function notesOf(statistics: Statistics): string[] {
  const {
    complete,
    filtered,
    endsEarly = false,
    weighted = 0,
    kinds,
    lostEvents,
    exact,
    traces,
    full,
    formats,
    time,
    suppressed,
  } = statistics
  const notes: string[] = []
  if (!complete) notes.push('The trace is truncated: the report is of the part that could be read.')
  if (filtered) notes.push('Events were removed from the trace, so blocks that seem to be live may have been freed.')
  if (endsEarly) notes.push(`T${EARLY_END_NOTE.slice(1)}.`)
  if ((kinds.lost ?? 0) > 0) {
    notes.push(`T${lostWarning(kinds.lost ?? 0, undefined, lostEvents).slice(1)}.`)
  }
  if (weighted > 0) notes.push(`T${weightNote(weighted).slice(1)}.`)
  if (traces > 1) {
    notes.push(`The input has ${traces} traces; the figures are of all together. No block outlives its trace.`)
  }
  if (suppressed !== undefined)
    notes.push(
      `Leaks of ${many(suppressed.blocks, 'block')} with ${many(Number(suppressed.bytes), 'byte')} are ` +
        `suppressed, by ${many(suppressed.rules.length, 'rule')}: the trace, its sites and stacks are shown ` +
        'without them; the timeline, generations, threads, sizes and addresses with them.',
    )
  if (formats.length > 1) notes.push(`The traces have several formats: ${formats.join(', ')}.`)
  if (!exact) notes.push('Sums of reserved memory are rounded.')
  if (time !== undefined && time.unit === undefined) notes.push('The unit of the times is not known.')
  for (const table of full) {
    notes.push(
      `There are more ${TABLE_NAMES[table] ?? table} than are distinguished: those that came later are counted ` +
        'together, as others.',
    )
  }
  return notes
}
