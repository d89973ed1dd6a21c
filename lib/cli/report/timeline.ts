import type { Statistics } from '../../transforms/statistics/result.js'
import { joinTimeline } from '../../transforms/statistics/timeline.js'
import { bar, tableLines, tableOf } from './columns.js'
import { unitName } from './names.js'

/** The level of live bytes, in at most `rows` rows of about equally many events. */
export function timelineTable({ timeline, time, peakBytes }: Statistics, rows: number, columns: number): string[] {
  const parts = joinTimeline(timeline, rows)
  if (parts.length === 0) return []
  const isTimed = parts.some((part) => part.time !== undefined)
  const hasResident = parts.some(({ resident }) => resident !== undefined)
  const table = tableOf(`Timeline of live bytes${isTimed ? `, time in ${unitName(time?.unit)}` : ''}`, parts, [
    ['to event', ({ event }) => event],
    isTimed && ['to time', (part) => part.time ?? ''],
    ['min', ({ minBytes }) => minBytes],
    ['max', ({ maxBytes }) => maxBytes],
    ['last', ({ live }) => live.bytes],
    ['blocks', ({ live }) => live.blocks],
    ['allocations', ({ allocated }) => allocated.blocks],
    ['bytes allocated', ({ allocated }) => allocated.bytes],
    ['frees', ({ frees }) => frees],
    hasResident && ['resident', ({ resident }) => resident ?? ''],
    [' ', ({ maxBytes }) => (maxBytes === 0n ? '' : bar(Number(maxBytes), Number(peakBytes.bytes)))],
  ])
  return tableLines(table, columns)
}
