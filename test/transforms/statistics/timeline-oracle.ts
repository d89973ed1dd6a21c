import type { TimelinePart } from '../../../lib/transforms/statistics/result.js'

/** What there is to say of the moment after an event. */
export interface Moment {
  /** Live bytes before the event. */
  before: bigint
  blocksBefore: number
  live: { blocks: number; bytes: bigint }
  time: bigint | undefined
  /** Resident bytes before the event and after it. */
  resident: readonly bigint[]
  /** From the beginning of the stream. */
  allocated: { blocks: number; bytes: bigint }
  frees: number
}

/** The timeline in parts of the least power of two of events for which 2,000 parts are enough. */
export function timelineOf(moments: readonly Moment[]): TimelinePart[] {
  let events = 1
  while (moments.length > 2000 * events) events *= 2
  return Array.from({ length: Math.ceil(moments.length / events) }, (_, part) => {
    const here = moments.slice(part * events, (part + 1) * events)
    const last = here.at(-1) as Moment
    const start = moments[part * events - 1] ?? { allocated: { blocks: 0, bytes: 0n }, frees: 0 }
    const levels = here.flatMap(({ before, live }) => [before, live.bytes])
    const counts = here.flatMap(({ blocksBefore, live }) => [blocksBefore, live.blocks])
    const resident = max(here.flatMap((moment) => moment.resident))
    const time = here.findLast((moment) => moment.time !== undefined)?.time
    return {
      event: part * events + here.length,
      ...(time !== undefined && { time }),
      live: last.live,
      minBytes: min(levels),
      maxBytes: max(levels),
      minBlocks: Math.min(...counts),
      maxBlocks: Math.max(...counts),
      ...(resident > 0n && { resident }),
      allocated: {
        blocks: last.allocated.blocks - start.allocated.blocks,
        bytes: last.allocated.bytes - start.allocated.bytes,
      },
      frees: last.frees - start.frees,
    }
  })
}

const min = (values: readonly bigint[]) => values.reduce((least, value) => (value < least ? value : least))
const max = (values: readonly bigint[]) => values.reduce((most, value) => (value > most ? value : most))
