import type { Statistics } from '../../transforms/statistics/result.js'
import { joinTimeline } from '../../transforms/statistics/timeline.js'
import { bar, grouped, tableLines } from './columns.js'
import { unitName } from './names.js'

/** The level of live bytes, in at most `rows` rows of about equally many events. */
export function timelineTable({ timeline, time, peakBytes }: Statistics, rows: number, columns: number): string[] {
  const parts = joinTimeline(timeline, rows)
  if (parts.length === 0) return []
  const isTimed = parts.some((part) => part.time !== undefined)
  const hasResident = parts.some(({ resident }) => resident !== undefined)
  return tableLines(
    {
      title: `Timeline of live bytes${isTimed ? `, time in ${unitName(time?.unit)}` : ''}`,
      heads: [
        'to event',
        ...(isTimed ? ['to time'] : []),
        'min',
        'max',
        'last',
        'blocks',
        'allocations',
        'bytes allocated',
        'frees',
        ...(hasResident ? ['resident'] : []),
        ' ',
      ],
      rows: parts.map((part) => [
        grouped(part.event),
        ...(isTimed ? [part.time === undefined ? '' : grouped(part.time)] : []),
        grouped(part.minBytes),
        grouped(part.maxBytes),
        grouped(part.live.bytes),
        grouped(part.live.blocks),
        grouped(part.allocated.blocks),
        grouped(part.allocated.bytes),
        grouped(part.frees),
        ...(hasResident ? [part.resident === undefined ? '' : grouped(part.resident)] : []),
        part.maxBytes === 0n ? '' : bar(Number(part.maxBytes), Number(peakBytes.bytes)),
      ]),
    },
    columns,
  )
}
